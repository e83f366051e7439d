import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { inRoot } from './paths.mjs';
import { Problem } from './problem.mjs';

const file = inRoot('.cache', 'setup.pid');

/** Keeps a second set-up out while one runs in this checkout; a lock whose process is gone is taken over. */
export function lock() {
  mkdirSync(inRoot('.cache'), { recursive: true });
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const owner = Number(readFileSync(file, 'utf8'));
    if (owner > 0 && isAlive(owner))
      throw new Problem(`another set-up (process ${owner}) is running in this checkout: wait for it to end.`);
    writeFileSync(file, String(process.pid));
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  return release;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
