// Responds with a page and its content security policy: nothing is loaded from or sent to other origins, no page may
// frame it, and no text becomes a script.
import { randomBytes } from 'node:crypto';
import type { Exchange } from '../http/exchange.ts';

/** Placeholder in a page for the nonce of each response. */
export const NONCE_PLACE = 'NONCE_OF_THIS_ANSWER';

const NONCE_BYTES = 16;

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
    const pieces = this.#parts.flatMap((part, index) => (index === 0 ? [part] : [between, part]));
    exchange.text(200, 'text/html; charset=utf-8', Buffer.concat(pieces));
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
