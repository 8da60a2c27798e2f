// The worker with PostgreSQL, which is PGlite, and the SQL edition. Messages from the page: { id, sql }. Messages to the page:
// { progress }, { ready }, { failed }, and for each statement { id, results, notices } or { id, error, notices }.
import { PGlite } from './pglite/index.js';
import { files } from './pglite/files.js';

const locate = name => new URL(name + new URL(import.meta.url).search, import.meta.url);

const total = Object.values(files).reduce((sum, size) => sum + size, 0);
let loaded = 0;

// The files are compressed by gzip, but are named .bin, so that no server or browser unpacks them on the way.
async function unpacked(name, type) {
  const response = await fetch(locate(`pglite/${name}.bin`));
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  const count = new TransformStream({
    transform(chunk, controller) {
      loaded += chunk.length;
      postMessage({ progress: loaded / total });
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(count).pipeThrough(new DecompressionStream('gzip')), { headers: { 'Content-Type': type } });
}

async function text(name) {
  const response = await fetch(locate(name));
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  return response.text();
}

// Values as PostgreSQL writes them: numbers of JavaScript lose digits of IDs, and its dates lose microseconds.
const unchanged = value => value;
const parsers = Object.fromEntries([16, 17, 20, 21, 23, 26, 114, 700, 701, 1082, 1114, 1184, 1186, 3802].map(type => [type, unchanged]));

async function start() {
  const [pgliteWasmModule, initdbWasmModule, fsBundle, script] = await Promise.all([
    unpacked('pglite.wasm', 'application/wasm').then(response => WebAssembly.compileStreaming(response)),
    unpacked('initdb.wasm', 'application/wasm').then(response => WebAssembly.compileStreaming(response)),
    unpacked('pglite.data', 'application/octet-stream').then(response => response.blob()),
    text('snowdrift.sql'),
  ]);
  const pg = await PGlite.create({ pgliteWasmModule, initdbWasmModule, fsBundle, parsers });
  await pg.transaction(transaction => transaction.exec(script));
  const { rows: [{ server_version: version }] } = await pg.query('SHOW server_version');
  postMessage({ ready: version });
  return pg;
}

const started = start();
started.catch(error => postMessage({ failed: String(error.message ?? error) }));

const maxRows = 200;
onmessage = async ({ data: { id, sql } }) => {
  const notices = [];
  try {
    const pg = await started;
    const results = await pg.exec(sql, { rowMode: 'array', onNotice: ({ severity, message }) => notices.push(`${severity}: ${message}`) });
    postMessage({
      id, notices,
      results: results.map(({ fields, rows, command, rowCount }) => ({ fields, rows: rows.slice(0, maxRows), count: rows.length, command, rowCount })),
    });
  } catch (error) {
    postMessage({ id, notices, error: { message: error.message, detail: error.detail, hint: error.hint } });
  }
};
