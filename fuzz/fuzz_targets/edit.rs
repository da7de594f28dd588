#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| everruns_fuzz::edit::check(data, everruns_fuzz::edited));
