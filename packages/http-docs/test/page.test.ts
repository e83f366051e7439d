import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { buildPage } from '../build-page.ts';
import { docsPage } from '../src/index.ts';

describe('the page', () => {
  it('is the one of the sources', async () => {
    expect(docsPage().html).toBe(await buildPage());
  });

  it('is small, and asks nothing of other places', () => {
    const { html } = docsPage();
    expect(html.length).toBeLessThan(40_000);
    const places = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, place]) => place);
    expect(places.filter((place) => !/^(#|\/v2\/|data:)/.test(place ?? ''))).toEqual([]);
    expect(html.replace("xmlns='http://www.w3.org/2000/svg'", '')).not.toMatch(/https?:\/\//);
  });

  it('has one script and one style, which its policy names by their hashes, and nothing else inline', () => {
    const { html, contentSecurityPolicy } = docsPage();
    for (const tag of ['script', 'style'] as const) {
      const [text, ...more] = [...html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, found]) => found);
      expect(more).toEqual([]);
      const hash = createHash('sha256')
        .update(text ?? '')
        .digest('base64');
      expect(contentSecurityPolicy).toContain(`${tag}-src 'sha256-${hash}'`);
    }
    const markup = html.replace(/<(script|style)>.*?<\/\1>/gs, '');
    expect(markup).not.toMatch(/\son\w+=|\sstyle=|javascript:/);
    expect(contentSecurityPolicy).toMatch(/^default-src 'none'; /);
    expect(contentSecurityPolicy).not.toContain('unsafe');
  });

  it('never makes markup of texts', () => {
    expect(docsPage().html).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/);
  });
});
