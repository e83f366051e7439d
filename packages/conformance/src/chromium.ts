/**
 * A real browser for tests: the Chromium of the npm package `@sparticuz/chromium` (headless shell, x64 Linux, with the libraries and a font that it needs),
 * or the one that NEREID_CHROMIUM names. Without either a test fails and says what to do; it is never left out.
 */
import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import { type Browser, launch } from 'puppeteer-core';

export interface Chromium extends AsyncDisposable {
  readonly browser: Browser;
}

interface Unpacked {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

const REMEDY =
  'name a Chromium or Chrome in NEREID_CHROMIUM (Debian, Ubuntu: apt-get install chromium, NEREID_CHROMIUM=/usr/bin/chromium)';

/** @throws {Error} that says what is missing where no browser can be started */
export async function startChromium(): Promise<Chromium> {
  const folder = mkdtempSync(join(tmpdir(), 'nereid-chromium-'));
  try {
    const given = process.env.NEREID_CHROMIUM;
    const { executablePath, env } = given === undefined ? await unpack(folder) : { executablePath: given, env: {} };
    // Tests run as root in containers, where Chromium has no sandbox; it opens nothing but servers of the tests.
    const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
    const userDataDir = join(folder, 'profile');
    const browser = await launch({
      executablePath,
      headless: 'shell',
      args,
      userDataDir,
      env: { ...process.env, ...env },
    });
    const dispose = async () => {
      await browser.close();
      rmSync(folder, { recursive: true, maxRetries: 5 });
    };
    return { browser, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw new Error(`no browser could be started; ${REMEDY}`, { cause: error });
  }
}

/** Unpacks the browser of the npm package: three Brotli streams, of which two are archives. */
async function unpack(folder: string): Promise<Unpacked> {
  const { platform, arch } = process;
  if (platform !== 'linux' || arch !== 'x64')
    throw new Error(`@sparticuz/chromium is for x64 Linux, not ${arch} ${platform}`);
  const packed = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '..', '..', 'bin');
  const executablePath = join(folder, 'chromium');
  await Promise.all([
    inflate(join(packed, 'chromium.br'), executablePath, 0o700),
    extract(join(packed, 'fonts.tar.br'), join(folder, 'fonts')),
    extract(join(packed, 'al2023.tar.br'), join(folder, 'libraries')),
  ]);
  // The package's own configuration names places of another system; without any font Chromium ends itself.
  writeFileSync(
    join(folder, 'fonts.conf'),
    `<?xml version="1.0"?><fontconfig><dir>${join(folder, 'fonts')}</dir><cachedir>${join(folder, 'font-cache')}</cachedir></fontconfig>`,
  );
  return {
    executablePath,
    env: { FONTCONFIG_FILE: join(folder, 'fonts.conf'), LD_LIBRARY_PATH: join(folder, 'libraries', 'lib') },
  };
}

async function inflate(from: string, to: string, mode = 0o600): Promise<void> {
  await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to, { mode }));
}

async function extract(from: string, directory: string): Promise<void> {
  mkdirSync(directory);
  const archive = `${directory}.tar`;
  await inflate(from, archive);
  await promisify(execFile)('tar', ['-xf', archive, '-C', directory]);
}
