// The connection of a command to a service: its flags, its client, and the messages of its errors.
import { readFileSync } from 'node:fs';
import { type ClientSettings, TemplateRunClient, TemplateRunError } from '../client/node/template-run-client.ts';
import { type CommandIo, type Flags, UsageError } from './command.ts';
import { checkReadable, STANDARD_INPUT } from './local-input.ts';

const URL_VARIABLE = 'TEMPLATE_RUN_URL';
const KEY_VARIABLE = 'TEMPLATE_RUN_API_KEY';

/** Prefix of API keys. */
const KEY_PREFIX = 'trs_';

export const SERVICE_FLAGS = {
  url: { kind: 'value', placeholder: 'URL', purpose: `address of the service (the variable ${URL_VARIABLE})` },
  key: {
    kind: 'value',
    placeholder: 'FILE',
    purpose: `file with the API key; "-" is standard input (the variable ${KEY_VARIABLE})`,
  },
  retries: { kind: 'value', placeholder: 'N', purpose: 'maximum number of retries of a request (5)' },
} as const;

/** @throws UsageError if the address or the key is missing or not valid */
export function serviceSettings(flags: Flags, io: CommandIo, signal: AbortSignal): ClientSettings {
  const url = flags.values.get('url') ?? io.env[URL_VARIABLE];
  if (url === undefined) throw new UsageError(`Write --url, or set ${URL_VARIABLE}.`);
  const baseUrl = serviceUrl(url, flags.values.has('url') ? '--url' : URL_VARIABLE);
  const keyFile = flags.values.get('key');
  const apiKey = keyFile === undefined ? io.env[KEY_VARIABLE] : keyIn(keyFile);
  if (apiKey === undefined) throw new UsageError(`Write --key FILE, or set ${KEY_VARIABLE}.`);
  const retries = wholeNumber(flags, 'retries');
  return { baseUrl, apiKey, signal, ...(retries === null ? {} : { retries }) };
}

/** @param source the flag or variable with the address, for the message */
export function serviceUrl(text: string, source: string): string {
  const address = text.trim();
  if (address === '') throw new UsageError(`${source} is empty: write an address such as https://runs.example.com.`);
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) {
    throw new UsageError(`${source} needs a scheme: write http://${address} or https://${address}.`);
  }
  if (!/^https?:/i.test(address)) throw new UsageError(`${source} takes an address with http:// or https://.`);
  if (!URL.canParse(address)) throw new UsageError(`${source} is not an address: ${address}.`);
  return address;
}

export function serviceClient(settings: ClientSettings): TemplateRunClient {
  try {
    return new TemplateRunClient(settings);
  } catch (error) {
    // The client refuses its settings, such as a key that contains a line break.
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/** Code and message of an error of the service, of its connection or of a local file. Rethrows faults of the program. */
export function serviceFailure(error: unknown): ServiceFailure {
  if (error instanceof TemplateRunError) {
    const { code, message, requestId } = error;
    const line = `${code}: ${message}${requestId === null ? '' : ` (request ${requestId})`}`;
    return { code, message, requestId, line };
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return { code, message, requestId: null, line: message };
}

export interface ServiceFailure {
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  /** For people. */
  readonly line: string;
}

export function wholeNumber({ values }: Flags, flag: string): number | null {
  const text = values.get(flag);
  if (text === undefined) return null;
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${flag} takes a whole number.`);
  return Number(text);
}

/** File descriptor of standard input. */
const STANDARD_INPUT_DESCRIPTOR = 0;

function keyIn(file: string): string {
  try {
    if (file === STANDARD_INPUT) return readFileSync(STANDARD_INPUT_DESCRIPTOR, 'utf8').trim();
    checkReadable(file);
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    // The message would contain the key and print it on a terminal or in a log.
    if (!file.includes(KEY_PREFIX)) throw error;
    throw new UsageError(
      '--key takes the path of a file that contains the API key, not the key itself. No file at this path can be read.',
    );
  }
}
