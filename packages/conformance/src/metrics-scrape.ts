import { runClient } from './client-checks.ts';

interface ScrapedFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    /** Null for NaN, which JSON does not have. */
    readonly value: number | null;
  }[];
}

/** One scrape as the parser of the Prometheus client reads it. */
export class Scrape {
  readonly families: readonly ScrapedFamily[];

  static async of(url: string): Promise<Scrape> {
    const printed = await runClient('metrics_scrape.py', [url]);
    const lines = printed.trim().split('\n');
    return new Scrape(lines.map((line) => JSON.parse(line) as ScrapedFamily));
  }

  private constructor(families: readonly ScrapedFamily[]) {
    this.families = families;
  }

  /** Values of the series that have these labels and at most `by` beside them; keyed by the value of `by`. */
  by(name: string, labels: Readonly<Record<string, string>>, by: string): Readonly<Record<string, number>> {
    const values: Record<string, number> = {};
    // The parser gives the samples of every counter the suffix that OpenMetrics asks for.
    const names = [name, `${name}_total`];
    for (const sample of this.families.flatMap(({ samples }) => samples)) {
      const { [by]: key = '', ...rest } = sample.labels;
      if (names.includes(sample.name) && isSame(rest, labels)) values[key] = sample.value ?? Number.NaN;
    }
    return values;
  }

  /** Value of the series with these labels and no other; undefined when there is none. */
  value(name: string, labels: Readonly<Record<string, string>>): number | undefined {
    return this.by(name, labels, '')[''];
  }
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** Series and TYPE lines of a scrape as text, without values, in no particular order. */
export function shapeOf(text: string): ReadonlySet<string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('# HELP'));
  return new Set(lines.map((line) => (line.startsWith('#') ? line : line.slice(0, line.lastIndexOf(' ')))));
}
