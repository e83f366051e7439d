/** What a load came to. After its time it prints one JSON line and ends the process. */
export class Report {
  isOpen = true;
  #failures = 0;
  #latencies = [];
  #start = performance.now();
  #cpu = process.cpuUsage();

  constructor(seconds) {
    setTimeout(() => this.#close(), seconds * 1000);
  }

  /** @param sent  when its request was, in milliseconds of `performance.now()` */
  answered(sent) {
    this.#latencies.push((performance.now() - sent) * 1000);
  }

  failed() {
    this.#failures += 1;
  }

  /** Latencies in microseconds; `generatorCpu` is this process's time per request in microseconds. */
  #close() {
    this.isOpen = false;
    const elapsed = (performance.now() - this.#start) / 1000;
    const { user, system } = process.cpuUsage(this.#cpu);
    const latencies = this.#latencies.sort((a, b) => a - b);
    const at = (quantile) =>
      Math.round(latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * quantile))]);
    console.log(
      JSON.stringify({
        requestsPerSecond: Math.round((latencies.length / elapsed) * 10) / 10,
        requests: latencies.length,
        p50: at(0.5),
        p99: at(0.99),
        failures: this.#failures,
        generatorCpu: Math.round((user + system) / latencies.length),
      }),
    );
    process.exit(0);
  }
}
