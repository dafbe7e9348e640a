// Marks deprecated features: adds the headers Deprecation (RFC 9745), Sunset (RFC 8594) and Link to responses of an
// operation, or of an endpoint with a deprecated field. Nothing is deprecated yet.
import type { Exchange } from './exchange.ts';

export interface Deprecation {
  /** Date of the deprecation, in the past or future. */
  readonly since: Date;
  /** Date of removal: at least twelve months later. */
  readonly sunset: Date;
  /** Page that describes the replacement. */
  readonly link: string;
}

/** Throws if the sunset is too early, which is an error of the caller. */
export function markDeprecated(exchange: Pick<Exchange, 'addHeader'>, { since, sunset, link }: Deprecation): void {
  const earliest = new Date(since);
  earliest.setUTCFullYear(earliest.getUTCFullYear() + 1);
  if (!(sunset >= earliest)) throw new Error('what is deprecated must keep working for at least twelve months');
  exchange.addHeader('Deprecation', `@${Math.floor(since.getTime() / 1000)}`);
  exchange.addHeader('Sunset', sunset.toUTCString());
  exchange.addHeader('Link', `<${encodeURI(link)}>; rel="deprecation"; type="text/html"`);
}
