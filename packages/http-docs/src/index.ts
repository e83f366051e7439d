import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A page and what a browser may do with it; `@nereid/http` takes it as `docsPage`. */
export interface DocsPage {
  /** One HTML document that needs nothing else but the server that it comes from. */
  readonly html: string;
  /** `Content-Security-Policy`: the script and the style inside by their hashes, calls to the same server, nothing else. */
  readonly contentSecurityPolicy: string;
}

let read: DocsPage | undefined;

/** The page, read from the files of this package when it is first asked for. */
export function docsPage(): DocsPage {
  if (read !== undefined) return read;
  const html = readFileSync(new URL('../dist/page.html', import.meta.url), 'utf8');
  read = { html, contentSecurityPolicy: policyFor(html) };
  return read;
}

/** The policy for a page with one `<style>` and one `<script>`. */
function policyFor(html: string): string {
  return [
    "default-src 'none'",
    `script-src '${hashOf('script', html)}'`,
    `style-src '${hashOf('style', html)}'`,
    "connect-src 'self'",
    // The icon of the page, and files that a person saves, are made by the page.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // Texts of others never become markup: the browser refuses every place where they could.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function hashOf(element: 'script' | 'style', html: string): string {
  const text = new RegExp(`<${element}>(.*?)</${element}>`, 's').exec(html)?.[1];
  if (text === undefined) throw new TypeError(`the page has no <${element}>`);
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
