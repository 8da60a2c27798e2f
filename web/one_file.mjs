// Packs the page into one file, which works from a file: node web/one_file.mjs NODE_MODULES SITE FILE
import fs from 'node:fs';
import path from 'node:path';
import { builtinModules, createRequire } from 'node:module';

const [modules, site, file] = process.argv.slice(2);
const esbuild = createRequire(path.resolve(modules, 'x.js'))('esbuild');
const read = name => fs.readFileSync(path.join(site, name), 'utf8');
const data = name => `data:application/octet-stream;base64,${fs.readFileSync(path.join(site, name)).toString('base64')}`;

// The worker, with all that it would fetch
const files = Object.fromEntries(['pglite/pglite.wasm.bin', 'pglite/pglite.data.bin', 'pglite/initdb.wasm.bin', 'snowdrift.sql'].map(name => [name, data(name)]));
const source = read('db.js').replace(/\?v=[^']*/g, '').replace(/^const locate = .*$/m, 'const locate = name => FILES[name];');
const { outputFiles: [bundle] } = await esbuild.build({
  stdin: { contents: source, resolveDir: path.resolve(site) }, bundle: true, format: 'iife', write: false, minify: true, logLevel: 'error',
  // What PGlite imports only in Node.js, or for databases on disk
  external: ['./fs/*', ...builtinModules.flatMap(name => [name, `node:${name}`])], define: { 'import.meta.url': '"file:///"' },
});
const worker = `const FILES = ${JSON.stringify(files)};\n${bundle.text}`;

// Nothing can be fetched: connections go only to data: addresses.
const policy = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; connect-src data:; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
const inline = text => text.replaceAll('</script', '<\\/script');
const app = read('app.js').replace(/new Worker\('db\.js[^']*', \{ type: 'module' \}\)/, 'new Worker(URL.createObjectURL(new Blob([DB_WORKER])))');
const scripts = { 'inspect.wasm.js': read('inspect.wasm.js'), 'inspect.js': read('inspect.js'), 'race.js': read('race.js'), 'app.js': `const DB_WORKER = ${JSON.stringify(worker)};\n${app}` };
const html = read('index.html')
  .replace(/content="default-src[^"]*"/, () => `content="${policy}"`)
  .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${read('style.css')}</style>`)
  .replace(/<script src="([\w.]+)\?[^"]*"><\/script>/g, (_, name) => `<script>\n${inline(scripts[name])}</script>`)
  .replace(/ \(<a href="pglite\/LICENSE">license<\/a>, <a href="pglite\/NOTICE">notice<\/a>\)/, () =>
    `</p>\n  <details><summary>Licenses of PGlite and PostgreSQL</summary><pre>${read('pglite/LICENSE').replaceAll('<', '&lt;')}\n${read('pglite/NOTICE').replaceAll('<', '&lt;')}</pre></details>\n  <p>`);
fs.writeFileSync(file, html);
