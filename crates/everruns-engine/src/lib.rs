//! Agents, sessions and the turn loop of everruns, with the file tools.
