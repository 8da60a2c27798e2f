// requires: golang-go golang-github-jackc-pgx-v4-dev
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v4"
)

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func bodies(rows pgx.Rows) string {
	var bodies []string
	for rows.Next() {
		var id, body string
		check(rows.Scan(&id, &body))
		bodies = append(bodies, body)
	}
	check(rows.Err())
	return strings.Join(bodies, ",")
}

func main() {
	ctx := context.Background()
// docs/clients.md: pgx

	fmt.Println("version 4")
	fmt.Println("id", id)
	fmt.Println("one", body)
	fmt.Println("many", manyBodies)
	fmt.Println("recent", recentBodies)
	fmt.Println("ids", strings.Join(ids, ","))
}
