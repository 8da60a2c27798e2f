// requires: default-jdk-headless libpostgresql-jdbc-java
import java.sql.*;
import java.util.Objects;
import org.postgresql.PGConnection;

class Main {
    public static void main(String[] arguments) throws SQLException {
        String url = System.getenv("JDBC_URL");
// docs/feeds.md: A consumer in Java
    }
}
