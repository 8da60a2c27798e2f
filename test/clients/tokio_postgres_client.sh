# requires: cargo librust-tokio-postgres-dev
mkdir -p .cargo
cat >.cargo/config.toml <<'END'
[source.crates-io]
replace-with = "debian"

[source.debian]
directory = "/usr/share/cargo/registry"
END
cat >Cargo.toml <<'END'
[package]
name = "recipe"
version = "0.0.0"
edition = "2021"

[[bin]]
name = "recipe"
path = "program.rs"

[dependencies]
tokio = { version = "1", features = ["macros", "rt"] }
tokio-postgres = "0.7"

[profile.dev]
debug = false
END
cat >program.rs <<'END'
use std::time::{Duration, SystemTime};
use tokio_postgres::{NoTls, Row};

fn bodies(rows: &[Row]) -> String {
    rows.iter().map(|row| row.get("body")).collect::<Vec<&str>>().join(",")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tokio_postgres::Error> {
    let variable = |name| std::env::var(name).unwrap();
    let address = format!("host={} user={} dbname={}", variable("PGHOST"), variable("PGUSER"), variable("PGDATABASE"));
// docs/clients.md: tokio-postgres

    println!("id {}", id);
    println!("one {}", order.get::<_, &str>("body"));
    println!("many {}", bodies(&many));
    println!("recent {}", bodies(&recent));
    println!("ids {}", ids.join(","));
    Ok(())
}
END
PATH=/usr/bin:/bin cargo run --quiet --offline
sed -n '/name = "tokio-postgres"/{n; s/"//g; s/version = /version /p}' Cargo.lock
