// A catalog with one account without limits, its key and one Template.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const KEY = 'a-test-key';
const LIMITED = ['list_templates', 'create_run', 'get_run', 'get_run_output', 'get_run_rejects', 'get_usage'];
const NO_LIMITS = Object.fromEntries(LIMITED.map((operation) => [operation, null]));

export function writeCatalog(folder: string): void {
  const write = (path: string, content: unknown): void => writeFileSync(join(folder, path), JSON.stringify(content));
  for (const path of ['accounts', 'templates/acme']) mkdirSync(join(folder, path), { recursive: true });
  write('plans.json', { free: { upload_bytes_max: 50_000_000, runs_in_flight_max: null, rate_limits: NO_LIMITS } });
  const sha256 = createHash('sha256').update(KEY).digest('hex');
  const scopes = ['templates:read', 'runs:write', 'runs:read'];
  const times = { created_at: '2026-01-01T00:00:00Z', expires_at: null, revoked_at: null };
  const subscription = { plan: 'free', status: 'active', started_at: '2026-01-01T00:00:00Z' };
  write('accounts/acme.json', {
    name: 'Acme',
    active: true,
    subscription,
    keys: [{ id: '1', sha256, scopes, ...times }],
  });
  write('templates/acme/t.json', { format: 1, operations: [] });
}
