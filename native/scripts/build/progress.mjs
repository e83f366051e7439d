/** Seconds since `start` (of `performance.now()`), for people. */
export function seconds(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/** Shows the steps of a build from the output of Ninja (`[3/16] …`) or Make (`[ 18%] …`): one line that is rewritten, or, outside a terminal, a few lines. */
export function createProgress(stream = process.stdout) {
  const start = performance.now();
  let shown = '';
  let lastPrinted = start;
  return {
    take(line) {
      const step = /^\[\s*([\d/%]+)\]\s+(.*)$/.exec(line);
      if (step === null) return;
      const what = step[2].replace(/^.*\/(?=[^/]+$)/, '').replace(/\.o(bj)?$/, '');
      shown = `  [${step[1]}] ${what}`;
      if (stream.isTTY) {
        stream.write(`\r\x1b[K${shown} (${seconds(start)})`);
      } else if (performance.now() - lastPrinted > 5000) {
        lastPrinted = performance.now();
        stream.write(`${shown} (${seconds(start)})\n`);
      }
    },
    end() {
      if (stream.isTTY && shown !== '') stream.write('\r\x1b[K');
    },
  };
}
