/// Makes one test a database of each function, which takes a `Place`.
macro_rules! on_each {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        #[cfg(feature = "sqlite")]
        mod sqlite {
            $(
                $(#[$meta])*
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    let test = concat!(module_path!(), "::", stringify!($name));
                    super::$name($crate::support::place::Place::sqlite(test)).await;
                }
            )+
        }
        #[cfg(feature = "postgres")]
        mod postgres {
            $(
                $(#[$meta])*
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    let test = concat!(module_path!(), "::", stringify!($name));
                    if let Some(place) = $crate::support::place::Place::postgres(test).await {
                        super::$name(place).await;
                    }
                }
            )+
        }
    };
}
