// `completion` in the installed shells: what bash offers at each place of a command line.
// With all tests only: a shell for each place of a command line.
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cli } from './command-line.ts';

async function completion(...args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  return cli('completion', ...args);
}

t.test('bash completes commands, actions, flags and files', async (t) => {
  const folder = t.testdir({ 'orders.csv': '', 'order.yaml': '' });
  const script = join(folder, 'completion.bash');
  writeFileSync(script, (await completion('bash')).stdout);
  const offered = (...words: readonly string[]): string[] => {
    const line = ['template-run', ...words];
    const assign = `COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${line.length - 1}`;
    const code = `source '${script}'; ${assign}; _template_run; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', code], { cwd: folder, encoding: 'utf8' }).trim().split('\n').sort();
  };
  t.strictSame(offered('ins'), ['inspect']);
  t.ok(offered('').length >= 9, 'all commands');
  t.strictSame(offered('keys', 'i'), ['issue']);
  t.strictSame(offered('run', '--sh'), ['--show-cell']);
  t.strictSame(offered('run', 'ord'), ['order.yaml', 'orders.csv']);
  t.strictSame(offered('template', 'che'), ['check']);
  t.strictSame(offered('template', 'check', '--'), [
    '--color',
    '--format',
    '--help',
    '--json',
    '--lenient',
    '--quiet',
    '--sample',
    '--strict',
  ]);
  t.strictSame(offered('template', 'check', 'order.'), ['order.yaml']);
  t.ok(offered('serve', '--mem').includes('--memory-budget'));
  t.strictSame(offered('nothing', '--x'), ['']);
});

t.test('fish and zsh', async (t) => {
  const fish = (await completion('fish')).stdout;
  t.match(fish, /^complete -c template-run -n __fish_use_subcommand -f -a 'serve run /);
  t.match(fish, /from template; and __fish_seen_subcommand_from check' -l strict$/m);
  const zsh = (await completion('zsh')).stdout;
  t.match(zsh, /^autoload -U \+X bashcompinit && bashcompinit\n_template_run\(\) \{/);
  const found = spawnSync('zsh', ['-n'], { input: zsh });
  if (found.error !== undefined) t.comment('zsh is not here: its script is not read by it');
  else t.equal(found.status, 0);
});

t.test('another shell is a usage error', async (t) => {
  t.match(await completion('bsh'), { status: 2, stderr: /Write bash, zsh or fish\. Did you mean "bash"\?/ });
  t.match(await completion(), { status: 2 });
});
