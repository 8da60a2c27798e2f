CREATE TABLE pages (id bigint PRIMARY KEY);
