// requires: default-jdk-headless libpostgresql-jdbc-java
import java.sql.*;
import java.time.*;
import java.util.*;

class Main {
    static String bodies(ResultSet rows) throws SQLException {
        var bodies = new ArrayList<String>();
        while (rows.next()) bodies.add(rows.getString("body"));
        return String.join(",", bodies);
    }

    public static void main(String[] arguments) throws SQLException {
        String url = System.getenv("JDBC_URL");
// docs/clients.md: JDBC
        System.out.println("version " + connection.getMetaData().getDriverVersion());
        System.out.println("id " + id);
        System.out.println("one " + bodies(order));
        System.out.println("many " + bodies(many));
        System.out.println("recent " + bodies(recent));
        System.out.println("ids " + String.join(",", ids));

        insert = connection.prepareStatement("SELECT body FROM orders WHERE id = ?");
        insert.setString(1, id);
        try {
            insert.executeQuery();
            throw new AssertionError("the server converts a varchar to ulid");
        } catch (SQLException error) {
            if (!error.getSQLState().equals("42883")) throw error;
        }
        System.out.println("ok setString requires a cast");

        connection = DriverManager.getConnection(url + "&stringtype=unspecified");
        var select = connection.prepareStatement("SELECT body FROM orders WHERE id = ?");
        select.setString(1, id);
        if (!bodies(select.executeQuery()).equals("hello")) throw new AssertionError("stringtype=unspecified");
        System.out.println("ok stringtype=unspecified lets setString pass IDs");

        var snowflake = connection.createStatement().executeQuery("SELECT next_snowflake() AS id");
        snowflake.next();
        if (snowflake.getLong("id") <= 1L << 53) throw new AssertionError("getLong");
        try {
            snowflake.getInt("id");
            throw new AssertionError("getInt returns a part of the ID");
        } catch (SQLException error) {
            if (!error.getSQLState().equals("22003")) throw error;
        }
        System.out.println("ok getInt raises an error for a Snowflake");
    }
}
