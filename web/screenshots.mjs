// Makes the pictures of the page in the documentation: node web/screenshots.mjs BUILD FOLDER. BUILD is build/web.
import { createRequire } from 'node:module';
import path from 'node:path';
import { serve } from './test/serve.mjs';

const [build, folder] = process.argv.slice(2).map(name => path.resolve(name));
const puppeteer = createRequire(path.join(build, 'node_modules/x.js'))('puppeteer-core');
const server = await serve(path.join(build, 'site'));
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });

async function open(viewport) {
  const page = await browser.newPage();
  await page.setViewport(viewport);
  await page.goto(server.url);
  await page.waitForFunction(() => document.documentElement.dataset.ready);
  return page;
}

const page = await open({ width: 1100, height: 900 });
for (const [i, n] of [[3, 3], [5, 4], [6, 5]]) {
  await page.click(`#steps li:nth-child(${i}) button`);
  await page.waitForFunction(n => document.querySelectorAll('#results > article').length >= n, { timeout: 300_000 }, n);
}
await page.evaluate(() => scrollTo(0, 0));
await page.screenshot({ path: path.join(folder, 'web-try.png') });
await page.$eval('#inspect', section => section.scrollIntoView());
await page.screenshot({ path: path.join(folder, 'web-inspect.png') });
const phone = await open({ width: 375, height: 800, deviceScaleFactor: 2, isMobile: true });
await phone.screenshot({ path: '/tmp/web-phone.png' });
await browser.close();
server.close();
