// The page at `/`: links to what a person or a program may look for on this service, as HTML or JSON.
import { element, styleElement, textOf } from './reference/html.ts';

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
    element(
      'head',
      {},
      element('meta', { charset: 'utf-8' }),
      element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      element('meta', { name: 'color-scheme', content: 'light dark' }),
      element('title', {}, 'Template Run Service'),
      styleElement(nonce, STYLE),
    ),
    element(
      'body',
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
