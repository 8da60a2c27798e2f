// Copies the files of the page: node web/build.mjs PGLITE SITE
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const [pglite, site] = process.argv.slice(2);
const from = path.join(pglite, 'dist');
const to = path.join(site, 'pglite');
const read = name => fs.readFileSync(name, 'utf8');

// index.js, and the modules that it imports
const copied = new Set();
function copyModule(name) {
  if (copied.has(name)) return;
  copied.add(name);
  const text = read(path.join(from, name)).replace(/\n\/\/# sourceMappingURL=.*/, '');
  fs.writeFileSync(path.join(to, name), text);
  for (const [, imported] of text.matchAll(/(?:from|import)\s*\(?"\.\/([\w-]+\.js)"/g)) copyModule(imported);
}
copyModule('index.js');

// gzip -n writes neither names nor times, so that equal versions are equal files.
const sizes = {};
for (const name of ['pglite.wasm', 'pglite.data', 'initdb.wasm']) {
  const packed = execFileSync('gzip', ['-9nc', path.join(from, name)], { maxBuffer: 2 ** 28 });
  fs.writeFileSync(path.join(to, `${name}.bin`), packed);
  sizes[name] = packed.length;
}
fs.writeFileSync(path.join(to, 'files.js'), `// The sizes of the downloads, in bytes\nexport const files = ${JSON.stringify(sizes)};\n`);
fs.copyFileSync(path.join(pglite, 'LICENSE'), path.join(to, 'LICENSE'));
fs.copyFileSync('web/pglite_notice.txt', path.join(to, 'NOTICE'));

// A page of one version must not load files of another one from a cache, so their addresses contain the versions.
const { version } = JSON.parse(read(path.join(pglite, 'package.json')));
const query = `?v=${JSON.parse(read('META.json')).version}-${version}`;
const megabytes = Math.round(Object.values(sizes).reduce((sum, size) => sum + size) / 1e6);
const write = (name, text) => fs.writeFileSync(path.join(site, name), text);
write('index.html', read('web/index.html')
  .replace(/(src|href)="(\w[\w.]*\.(?:js|css))"/g, `$1="$2${query}"`)
  .replace('<span id="megabytes"></span>', megabytes)
  .replace('<span id="pglite-version"></span>', version));
write('app.js', read('web/app.js').replace("'db.js'", `'db.js${query}'`));
write('db.js', read('web/db.js').replace(/'(\.\/pglite\/\w+\.js)'/g, `'$1${query}'`));
for (const name of ['style.css', 'inspect.js', 'race.js']) write(name, read(`web/${name}`));
write('snowdrift.sql', read('sql-edition/snowdrift.sql'));
