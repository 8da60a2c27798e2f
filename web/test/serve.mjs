// Serves a folder on a free port, as hosts of static files do: without headers that isolate the page. { url, requests, close() }
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.sql': 'application/sql' };

export function serve(folder) {
  const requests = [];
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const file = path.join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    const isFound = file.startsWith(path.resolve(folder)) && fs.existsSync(file);
    requests.push({ status: isFound ? 200 : 404, url: request.url });
    response.writeHead(isFound ? 200 : 404, { 'Content-Type': types[path.extname(file)] ?? 'application/octet-stream', 'Cache-Control': 'max-age=600' });
    response.end(isFound ? fs.readFileSync(file) : '');
  });
  return new Promise(resolve => server.listen(0, '127.0.0.1', () =>
    resolve({ url: `http://127.0.0.1:${server.address().port}/`, requests, close: () => server.close() })));
}
