import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MS = 500;

/** Holds `file` while `body` runs, waiting for another process that holds it; the lock of a process that is gone is taken over. */
export async function withLock({ file, onWait }, body) {
  mkdirSync(dirname(file), { recursive: true });
  let told = false;
  while (!acquire(file)) {
    if (!told) onWait(Number(readFileSync(file, 'utf8')));
    told = true;
    await sleep(WAIT_MS);
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await body();
  } finally {
    release();
    process.off('exit', release);
  }
}

function acquire(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (isHeld(file)) return false;
  rmSync(file, { force: true });
  return acquire(file);
}

function isHeld(file) {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
