// Marks what is retired: the headers Deprecation (RFC 9745), Sunset (RFC 8594) and Link on the answers of an operation
// or of whoever shows a retired field. Nothing is retired yet.
import type { Exchange } from './exchange.ts';

export interface Deprecation {
  /** When it was or will be deprecated. */
  readonly since: Date;
  /** When it goes away: at least twelve months later. */
  readonly sunset: Date;
  /** Page that says what to use instead. */
  readonly link: string;
}

/** Throws when the sunset comes too early: a mistake in the table of whoever calls. */
export function markDeprecated(exchange: Pick<Exchange, 'addHeader'>, { since, sunset, link }: Deprecation): void {
  const earliest = new Date(since);
  earliest.setUTCFullYear(earliest.getUTCFullYear() + 1);
  if (!(sunset >= earliest)) throw new Error('what is deprecated must keep working for at least twelve months');
  exchange.addHeader('Deprecation', `@${Math.floor(since.getTime() / 1000)}`);
  exchange.addHeader('Sunset', sunset.toUTCString());
  exchange.addHeader('Link', `<${encodeURI(link)}>; rel="deprecation"; type="text/html"`);
}
