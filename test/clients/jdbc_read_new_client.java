// requires: default-jdk-headless libpostgresql-jdbc-java
import java.sql.*;
import java.util.*;

class Main {
    interface Setter { void set(PreparedStatement select, ResultSet row) throws SQLException; }

    // read SELECT, FIRST, LAST: three pages of at most two rows, the first one after the position that FIRST sets, and the
    // others after the last row of the previous one, whose position LAST sets
    static String read(PreparedStatement select, Setter first, Setter last) throws SQLException {
        var pages = new ArrayList<String>();
        first.set(select, null);
        for (int i = 0; i < 3; i++) {
            var bodies = new ArrayList<String>();
            ResultSet rows = select.executeQuery();
            while (rows.next()) {
                bodies.add(rows.getString("body"));
                last.set(select, rows);
            }
            pages.add(String.join(",", bodies));
        }
        return String.join("|", pages);
    }

    public static void main(String[] arguments) throws SQLException {
        Map<String, Setter> firsts = new LinkedHashMap<>();
        firsts.put("setObject", (select, row) -> select.setObject(1, null));
        firsts.put("setNull BIGINT", (select, row) -> select.setNull(1, Types.BIGINT));
        firsts.put("setString", (select, row) -> select.setString(1, null));
        Map<String, Setter> lasts = new LinkedHashMap<>();
        lasts.put("getObject", (select, row) -> select.setObject(1, row.getObject("id")));
        lasts.put("getString", (select, row) -> select.setString(1, row.getString("id")));

        for (int threshold : new int[] {0, 1}) {
            var connection = DriverManager.getConnection(System.getenv("JDBC_URL") + "&prepareThreshold=" + threshold);
            for (String table : System.getenv("TABLES").split(" "))
                for (var first : firsts.entrySet())
                    for (var last : lasts.entrySet()) {
                        String pages = "";
                        try (var select = connection.prepareStatement(
                                "SELECT id, body FROM snowdrift.read_new(NULL::" + table + ", after => ?, max => 2)")) {
                            for (int i = 0; i < 4; i++) pages = read(select, first.getValue(), last.getValue());
                        } catch (SQLException error) {
                            pages = error.getSQLState();
                        }
                        System.out.println(table + ", " + (threshold == 0 ? "not prepared" : "prepared") + ", "
                            + first.getKey() + ", " + last.getKey() + ": " + pages);
                    }
            var prepared = connection.createStatement().executeQuery(
                "SELECT count(*) FROM pg_prepared_statements WHERE statement ~ 'read_new'");
            prepared.next();
            if ((prepared.getInt(1) > 0) != (threshold > 0)) throw new AssertionError("prepareThreshold=" + threshold);
        }
    }
}
