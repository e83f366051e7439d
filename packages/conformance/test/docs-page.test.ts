/** The page at /v2/docs as a person meets it: a real Chromium, a real server, real models. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testModel } from '@nereid/testing';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Chromium, startChromium } from '../src/chromium.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples/model_repository', import.meta.url));
const DECOUPLED = fileURLToPath(new URL('../repositories/decoupled', import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const IDENTITIES = [
  ['more_datatypes', 'id_bf16'],
  ['golden_repository', 'id_fp64'],
  ['golden_repository', 'id_int64'],
] as const;

const MARKUP = `<img src=x onerror="document.title='owned'">`;

let repository: string;
let server: NereidProcess;
let chromium: Chromium;

beforeAll(async () => {
  repository = mkdtempSync(join(tmpdir(), 'nereid-docs-'));
  for (const name of ['mlp', 'vision', 'strings'])
    cpSync(join(EXAMPLES, name), join(repository, name), { recursive: true });
  for (const [folder, name] of IDENTITIES)
    cpSync(join(testModel(folder), name), join(repository, name), { recursive: true });
  cpSync(join(DECOUPLED, 'repeat'), join(repository, 'repeat'), { recursive: true });
  cpSync(join(EXAMPLES, 'strings'), join(repository, `good ${MARKUP}`), { recursive: true });
  mkdirSync(join(repository, `bad ${MARKUP}`, '1'), { recursive: true });
  writeFileSync(join(repository, `bad ${MARKUP}`, 'config.pbtxt'), `backend: "<b>none</b>"\n`);
  const started = startNereid(
    [repository],
    [
      '--exit-on-error=false',
      '--strict-readiness=false',
      '--allow-grpc=false',
      '--allow-metrics=false',
      '--http-restricted-api=statistics:Key=s3cret',
    ],
  );
  [server, chromium] = await Promise.all([started, startChromium()]);
}, 180_000);
afterAll(async () => {
  await chromium?.[Symbol.asyncDispose]();
  await server?.stop();
  rmSync(repository, { recursive: true });
});

/** A page and everything that went wrong on it, or went elsewhere. */
async function open(hash = '', prepare: (page: Page) => Promise<void> = async () => {}) {
  const page = await chromium.browser.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    // A call that is answered with an error is told there too.
    if (!message.text().startsWith('Failed to load resource: the server responded with')) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('requestfailed', (request) => faults.push(`failed: ${request.url()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${server.url}/v2`) && !request.url().startsWith('data:'))
      faults.push(`elsewhere: ${request.url()}`);
  });
  await prepare(page);
  await page.goto(`${server.url}/v2/docs${hash}`);
  await page.waitForSelector('main [role=tabpanel]:not([hidden])');
  return { page, faults, [Symbol.asyncDispose]: async () => await page.close() };
}

const modelHash = (name: string) => `#model/${encodeURIComponent(name)}`;

const textOf = (page: Page, selector: string) => page.$eval(selector, (found) => found.textContent ?? '');

async function fill(page: Page, label: string, value: string) {
  const field = page.locator(`::-p-aria([name="${label}"])`);
  await field.fill(value);
}

async function press(page: Page, name: string) {
  await page.locator(`::-p-aria([name="${name}"][role="button"])`).click();
}

/** What axe finds wrong for those who do not see, or see little. */
async function barriers(page: Page): Promise<unknown> {
  await page.evaluate(AXE);
  return await page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))',
  );
}

async function infer(name: string, inputs: readonly object[]) {
  const answer = await fetch(`${server.url}/v2/models/${encodeURIComponent(name)}/infer`, {
    method: 'POST',
    body: JSON.stringify({ inputs }),
  });
  return (await answer.json()) as { readonly error?: string; readonly outputs: readonly { readonly data: number[] }[] };
}

const CURL = 'pre[aria-label="The same with curl"]';

/** Values of the answer on the page, as they are shown. */
const shownValues = async (page: Page) =>
  JSON.parse((await textOf(page, '.output pre')).replaceAll('\n', '')) as unknown;

describe('the page at /v2/docs', () => {
  test('lists the models with their states, and opens the first that is ready', async () => {
    await using opened = await open();
    const { page, faults } = opened;
    const rows = await page.$$eval('#list li', (items) => items.map((item) => item.textContent));
    expect(rows.sort()).toEqual(
      [
        `bad ${MARKUP}UNAVAILABLE`,
        `good ${MARKUP}READY`,
        ...IDENTITIES.map(([, name]) => `${name}READY`),
        'mlpREADY',
        'repeatREADY',
        'stringsREADY',
        'visionREADY',
      ].sort(),
    );
    expect(await textOf(page, 'h1')).toMatch(/^nereid \d/);
    expect(await textOf(page, '#health')).toBe('ready');
    expect(await textOf(page, 'h2')).toBe(`good ${MARKUP}`);
    expect(faults).toEqual([]);
  });

  test('runs a model with values that a person writes, and shows the numbers of the server', async () => {
    await using opened = await open('#model/mlp');
    const { page, faults } = opened;
    const data = Array.from({ length: 64 }, (_, index) => index / 64);
    await fill(page, 'Values, a JSON array', JSON.stringify(data));
    await press(page, 'Run');
    await page.waitForSelector('.output');
    const { outputs } = await infer('mlp', [{ name: 'INPUT__0', datatype: 'FP32', shape: [1, 64], data }]);
    const single = (values: unknown) => (values as number[]).map(Math.fround);
    expect(single(((await shownValues(page)) as unknown[])[0])).toEqual(single(outputs[0]?.data));
    expect(await textOf(page, '.status')).toMatch(/^200 · [\d.]+ ms · \d+ bytes$/);
    expect(await textOf(page, '.output h3')).toBe('OUTPUT__0 FP32 [1, 10]');
    expect(await textOf(page, CURL)).toContain(`"data":[0,0.015625,`);
    expect(faults).toEqual([]);
  });

  test('makes the values of a large input by itself', async () => {
    await using opened = await open('#model/vision');
    const { page, faults } = opened;
    await page.select('fieldset select', 'zeros');
    await press(page, 'Run');
    await page.waitForSelector('.output');
    const data = new Array<number>(3072).fill(0);
    const { outputs } = await infer('vision', [{ name: 'image', datatype: 'FP32', shape: [1, 3, 32, 32], data }]);
    const [shown = []] = (await shownValues(page)) as number[][];
    expect(shown.map(Math.fround)).toEqual(outputs[0]?.data.map(Math.fround));
    expect(await textOf(page, CURL)).toContain('--data-binary @request.json');
    expect(faults).toEqual([]);
  });

  test('takes and shows numbers that JSON has no form for', async () => {
    await using opened = await open('#model/id_bf16');
    const { page, faults } = opened;
    await fill(page, 'Shape', '4');
    await fill(page, 'Values, a JSON array', '[1.5, -2, 3.140625, NaN]');
    await press(page, 'Run');
    await page.waitForSelector('.output');
    expect(await textOf(page, '.output pre')).toBe('[1.5, -2, 3.140625, NaN]');
    expect(await textOf(page, '.output .hint')).toBe('1 of 4 values are no finite numbers');
    expect(await textOf(page, CURL)).toContain('--data-binary @request.bin');
    await page.goto(`${server.url}/v2/docs#model/id_fp64`);
    await page.reload();
    await fill(page, 'Shape', '3');
    await fill(page, 'Values, a JSON array', '[NaN, -Infinity, 0.1]');
    await press(page, 'Run');
    await page.waitForSelector('.output');
    expect(await textOf(page, '.output pre')).toBe('[NaN, -Infinity, 0.1]');
    await fill(page, 'Shape', '5000000');
    await page.select('fieldset select', 'zeros');
    await press(page, 'Run');
    await page.waitForFunction("document.querySelector('.status').textContent.includes('4,000,000 values at most')");
    expect(faults).toEqual([]);
  });

  test('keeps the digits of 64-bit integers both ways', async () => {
    await using opened = await open('#model/id_int64');
    await fill(opened.page, 'Shape', '2');
    await fill(opened.page, 'Values, a JSON array', '[9007199254740993, -9223372036854775808]');
    await press(opened.page, 'Run');
    await opened.page.waitForSelector('.output');
    expect(await textOf(opened.page, '.output pre')).toBe('[9007199254740993, -9223372036854775808]');
  });

  test('shows what the server says of a wrong shape, and what is wrong with a field before it is sent', async () => {
    await using opened = await open('#model/mlp');
    const { page, faults } = opened;
    await fill(page, 'Shape', '1, 63');
    await press(page, 'Run');
    await page.waitForSelector('.error');
    const data = new Array<number>(63).fill(0);
    const { error } = await infer('mlp', [{ name: 'INPUT__0', datatype: 'FP32', shape: [1, 63], data }]);
    expect(error).toMatch(/shape/);
    expect([await textOf(page, '.error'), await textOf(page, '.status')]).toEqual([
      error,
      expect.stringMatching(/^400 · /),
    ]);
    await fill(page, 'Values, a JSON array', '[1, 2');
    await press(page, 'Run');
    await page.waitForFunction(
      "document.querySelector('.status').textContent.startsWith(\"values of 'INPUT__0': is no JSON\")",
    );
    expect(faults).toEqual([]);
  });

  test('shows the events of a stream one by one, and stops it', async () => {
    await using opened = await open('#model/repeat');
    const { page, faults } = opened;
    expect(await textOf(page, '[role=tab][aria-selected=true]')).toBe('Generate');
    await fill(page, 'Request: inputs by name, and parameters', '{"IN": [7, 8, 9], "DELAY": 300}');
    await page.evaluate(`
      globalThis.seen = [];
      new MutationObserver(() => {
        const count = document.querySelectorAll('.events li').length;
        if (!seen.includes(count)) seen.push(count);
      }).observe(document.querySelector('main'), { childList: true, subtree: true });
    `);
    await press(page, 'Stream');
    await page.waitForFunction("document.querySelector('.status').textContent.startsWith('3 events ·')");
    expect(await page.evaluate('seen')).toEqual([0, 1, 2, 3]);
    const events = await page.$$eval('.events pre', (blocks) => blocks.map((block) => block.textContent ?? ''));
    expect(events.map((event) => JSON.parse(event))).toMatchObject([{ OUT: 7 }, { OUT: 8 }, { OUT: 9 }]);
    await fill(page, 'Request: inputs by name, and parameters', '{"IN": [7, 8, 9], "DELAY": 60000}');
    await press(page, 'Stream');
    await press(page, 'Stop');
    await page.waitForFunction("document.querySelector('.status').textContent === 'stopped'");
    expect(faults.filter((fault) => !fault.includes('/generate_stream'))).toEqual([]);
  });

  test('takes names, errors and tensors of others as text', async () => {
    await using opened = await open(modelHash(`good ${MARKUP}`));
    const { page, faults } = opened;
    await fill(page, 'Values, a JSON array', JSON.stringify(['<img src=y>']));
    await press(page, 'Run');
    await page.waitForSelector('.output');
    expect(await shownValues(page)).toEqual([['<IMG SRC=Y>']]);
    await fill(page, 'Shape', '1, 1, 1');
    await press(page, 'Run');
    await page.waitForSelector('.error');
    expect(await textOf(page, '.error')).toContain(MARKUP);
    await page.evaluate(`location.hash = ${JSON.stringify(modelHash(`bad ${MARKUP}`))}`);
    await page.waitForFunction("document.querySelector('h2').textContent.startsWith('bad ')");
    expect(await textOf(page, 'h2')).toBe(`bad ${MARKUP}`);
    expect(await textOf(page, '.error')).toContain('<b>none</b>');
    expect(await page.$$eval('img, main b', (found) => found.length)).toBe(0);
    expect(await page.title()).toBe('nereid: models');
    expect(faults).toEqual([]);
  });

  test('is refused by the browser what a page under its policy must not do', async () => {
    await using opened = await open('#model/mlp');
    const attempt = (code: string) =>
      opened.page.evaluate(`(() => { try { ${code}; return 'done'; } catch (error) { return error.name; } })()`);
    expect(await attempt("document.querySelector('main').innerHTML = '<b>x</b>'")).toBe('TypeError');
    expect(
      await attempt(
        "document.body.append(Object.assign(document.createElement('style'), { textContent: 'h1 { color: red }' }))",
      ),
    ).toBe('done');
    expect(await opened.page.evaluate("getComputedStyle(document.querySelector('h1')).color")).not.toBe(
      'rgb(255, 0, 0)',
    );
    expect(await opened.page.evaluate("fetch('http://127.0.0.1:1/').catch((error) => error.name)")).toBe('TypeError');
    expect(opened.faults.join()).toMatch(/Content Security Policy/);
  });

  test('sends the key of a restricted call, and says which is missing', async () => {
    await using opened = await open('#model/strings');
    const { page, faults } = opened;
    await page.click('#tab-statistics');
    await page.waitForSelector('#panel-statistics .error');
    expect(await textOf(page, '#panel-statistics .error')).toBe("403: This API is restricted, expecting header 'key'");
    await page.click('#keys summary');
    await page.type('#headers', 'key: s3cret');
    await page.click('#tab-statistics');
    await page.waitForSelector('#panel-statistics table');
    expect(await textOf(page, '#panel-statistics h3')).toBe('Version 1');
    expect(faults).toEqual([]);
  });

  test('is used with the keyboard alone', async () => {
    await using opened = await open('#model/mlp');
    const { page, faults } = opened;
    await page.focus('#tab-infer');
    const chosen = () => page.evaluate('document.activeElement.textContent');
    for (const [key, title] of [
      ['ArrowRight', 'Generate'],
      ['End', 'Configuration'],
      ['ArrowRight', 'Infer'],
    ] as const) {
      await page.keyboard.press(key);
      expect([await chosen(), await textOf(page, '[role=tab][aria-selected=true]')]).toEqual([title, title]);
    }
    await page.focus('fieldset input');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.output');
    expect(faults).toEqual([]);
  });

  test.each([
    ['light', 1280],
    ['light', 360],
    ['dark', 1280],
    ['dark', 360],
  ])('%s at a width of %i: fits, and has no barriers', async (scheme, width) => {
    await using opened = await open('#model/vision', async (page) => {
      await page.setViewport({ width, height: 740 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    });
    const { page, faults } = opened;
    await press(page, 'Run');
    await page.waitForSelector('.output');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
      scheme === 'dark' ? 'rgb(17, 23, 29)' : 'rgb(246, 248, 250)',
    );
    for (const tab of ['infer', 'statistics', 'config']) {
      await page.click(`#tab-${tab}`);
      expect([tab, await barriers(page)]).toEqual([tab, []]);
    }
    expect(faults).toEqual([]);
  });
});
