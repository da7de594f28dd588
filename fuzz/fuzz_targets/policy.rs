#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| everruns_fuzz::policy::check(data));
