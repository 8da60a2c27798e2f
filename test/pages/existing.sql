CREATE TABLE posts (id bigserial PRIMARY KEY, body text);
INSERT INTO posts (body) VALUES ('a'), ('b'), ('c');
