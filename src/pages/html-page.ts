// Pages as HTML: the response with its content security policy, elements as text, and the start page. Nothing is loaded
// from or sent to other origins, no page may frame a page of the service, and no text becomes a script.

import { randomBytes } from 'node:crypto';
import type { Exchange } from '../http/exchange.ts';

/** Placeholder in a page for the nonce of each response. */
export const NONCE_PLACE = 'NONCE_OF_THIS_ANSWER';

const NONCE_BYTES = 16;

const CONTENT_TYPE = 'text/html; charset=utf-8';

export interface PageNeeds {
  /** True if the page has scripts, which send requests to the service. */
  readonly hasScript: boolean;
}

/** A page, encoded once. Each response copies it with a new nonce. */
export class Page {
  readonly #parts: readonly Buffer[];
  readonly #needs: PageNeeds;

  constructor(html: string, needs: PageNeeds) {
    this.#parts = html.split(NONCE_PLACE).map((part) => Buffer.from(part));
    this.#needs = needs;
  }

  answer(exchange: Exchange): void {
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    exchange.addHeader('Content-Security-Policy', policy(nonce, this.#needs.hasScript));
    exchange.addHeader('Cross-Origin-Opener-Policy', 'same-origin');
    exchange.addHeader('Cross-Origin-Resource-Policy', 'same-origin');
    exchange.addHeader('Referrer-Policy', 'no-referrer');
    const between = Buffer.from(nonce);
    if (exchange.head.method === 'HEAD') {
      // Copying the page for each of many pipelined requests would take most of the time of a response.
      const partBytes = this.#parts.reduce((sum, { length }) => sum + length, 0);
      exchange.textHead(200, CONTENT_TYPE, partBytes + between.length * (this.#parts.length - 1));
      return;
    }
    const pieces = this.#parts.flatMap((part, index) => (index === 0 ? [part] : [between, part]));
    exchange.text(200, CONTENT_TYPE, Buffer.concat(pieces));
  }
}

function policy(nonce: string, hasScript: boolean): string {
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    ...(hasScript ? [`script-src 'nonce-${nonce}'`, "connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

// HTML elements as text. All content is escaped, and there is no other way to create an element.

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** null and false are left out. */
export type Child = string | number | Html | null | false | readonly Child[];

/** Elements without content and end tag. */
const VOID = new Set(['meta', 'link', 'br']);

/** @param attributes attributes by their names in HTML; null leaves one out */
export function element(name: string, attributes: Readonly<Record<string, string | null>>, ...content: Child[]): Html {
  const written = Object.entries(attributes).map(([key, value]) =>
    value === null ? '' : ` ${key}="${escaped(value)}"`,
  );
  const head = `<${name}${written.join('')}>`;
  return new Html(VOID.has(name) ? head : `${head}${content.map(textOf).join('')}</${name}>`);
}

/** A style element. Browsers read its text without decoding escapes. */
function styleElement(nonce: string, css: string): Html {
  if (/<\//.test(css)) throw new Error('a style must not contain </');
  return new Html(`<style nonce="${escaped(nonce)}">${css}</style>`);
}

export function textOf(child: Child): string {
  if (child === null || child === false) return '';
  if (child instanceof Html) return child.text;
  return typeof child === 'object' ? child.map(textOf).join('') : escaped(String(child));
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** The `head` of a page for light and dark themes and for any width. */
export function pageHead(title: string, style: string, nonce: string): Html {
  return element(
    'head',
    {},
    element('meta', { charset: 'utf-8' }),
    element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    element('meta', { name: 'color-scheme', content: 'light dark' }),
    element('title', {}, title),
    styleElement(nonce, style),
  );
}

// The page at `/`: links to what a person or a program may look for on this service, as HTML or JSON.

/** A link of the start page. The path is absolute. */
export interface StartLink {
  readonly name: 'openapi' | 'docs' | 'console';
  readonly path: string;
}

const LABELS: Readonly<Record<StartLink['name'], string>> = {
  docs: 'Reference of the API',
  console: 'Console: send a file and download the result',
  openapi: 'OpenAPI document, for programs',
};

const STYLE = 'body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem}';

/** `{"service": "template-run", "openapi": "/api/v1/openapi.json", ...}`: a page that is disabled has no property. */
export function startDocument(links: readonly StartLink[]): object {
  return { service: 'template-run', ...Object.fromEntries(links.map(({ name, path }) => [name, path])) };
}

/** @param nonce placeholder that each response replaces by its own nonce */
export function startPage(links: readonly StartLink[], nonce: string): string {
  const page = element(
    'html',
    { lang: 'en' },
    pageHead('Template Run Service', STYLE, nonce),
    element(
      'body',
      {},
      element(
        'main',
        {},
        element('h1', {}, 'Template Run Service'),
        element('p', {}, 'Applies a stored Template to an uploaded file and returns the result.'),
        element(
          'ul',
          {},
          // Relative, because a balancer may serve this page below a path of its own.
          links.map(({ name, path }) => element('li', {}, element('a', { href: path.slice(1) }, LABELS[name]))),
        ),
      ),
    ),
  );
  return `<!doctype html>${textOf(page)}`;
}

/** Whether an Accept header names HTML. A program that accepts everything, such as curl, gets JSON. */
export function prefersHtml(accept: string | null): boolean {
  const ranges = (accept ?? '').toLowerCase().split(',');
  return ranges.some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
