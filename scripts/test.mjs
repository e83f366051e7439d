/** Sets everything up, runs every test of every package, and prints how many passed and failed. */
import { runMain, setUp } from './setup.mjs';
import { runTests } from './suites.mjs';

await runMain(async () => {
  await setUp({ withTests: true });
  const { passed, failed, skipped, silent } = await runTests(process.argv.slice(2));
  for (const name of silent) console.log(`${name} wrote no results: its tests did not run to the end`);
  if (skipped) console.log(`${skipped} tests were skipped; each says why above`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
