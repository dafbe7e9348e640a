// Answers with a page and the policy under which browsers show it: nothing comes from elsewhere, nothing goes elsewhere, no
// page frames it, and no text becomes a script.
import { randomBytes } from 'node:crypto';
import type { Exchange } from '../http/exchange.ts';

/** Stands in a page where the nonce of each answer is put. */
export const NONCE_PLACE = 'NONCE_OF_THIS_ANSWER';

const NONCE_BYTES = 16;

export interface PageNeeds {
  /** It has scripts of its own, and these ask the service. */
  readonly hasScript: boolean;
}

export function answerPage(exchange: Exchange, html: string, { hasScript }: PageNeeds): void {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  exchange.addHeader('Content-Security-Policy', policy(nonce, hasScript));
  exchange.addHeader('Cross-Origin-Opener-Policy', 'same-origin');
  exchange.addHeader('Cross-Origin-Resource-Policy', 'same-origin');
  exchange.addHeader('Referrer-Policy', 'no-referrer');
  exchange.text(200, 'text/html; charset=utf-8', html.replaceAll(NONCE_PLACE, nonce));
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
