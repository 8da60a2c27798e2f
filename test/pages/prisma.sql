-- Tables that Prisma has created
CREATE TABLE "User" (id serial PRIMARY KEY);
CREATE TABLE "Post" (id serial PRIMARY KEY, "authorId" integer NOT NULL REFERENCES "User");
