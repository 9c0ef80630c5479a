import { scopeObjects } from '@halyard/contract'
import { type Command, Option } from 'commander'
import { group, jsonOption, load, onProject, wholeNumber } from './options.ts'

export function addAccountCommands(program: Command): void {
  program
    .command('credentials')
    .description('print the password and key that the first start generated, until they have been used')
    .addOption(jsonOption())
    .action(load(async () => (await import('../accounts/credentials.ts')).credentials))
  addUserCommands(program)
  addKeyCommands(program)
}

function addUserCommands(program: Command): void {
  const users = group(program, 'users', 'manage users, beside the database')
  users
    .command('list')
    .description('list all users')
    .addOption(jsonOption())
    .action(load(async () => (await import('../accounts/users.ts')).listUsers))
  users
    .command('create')
    .description('create a user in the first organization; prints the password once')
    .requiredOption('--email <address>', 'email address')
    .option('--first-name <name>', 'name; default: the part of the address before the @')
    .addOption(
      new Option('--level <level>', 'membership level')
        .choices(['auditor', 'view-only', 'member', 'admin'])
        .default('member'),
    )
    .addOption(jsonOption())
    .action(load(async () => (await import('../accounts/users.ts')).createUser))
  users
    .command('reset-password')
    .description('set a new random password and print it once; ends all sign-ins of the user')
    .requiredOption('--email <address>', 'email address')
    .option('--verify-email', 'count the address as verified, for single sign-on; removes keys and second factors')
    .addOption(jsonOption())
    .action(load(async () => (await import('../accounts/users.ts')).resetPassword))
  users
    .command('reset-second-factor')
    .description('remove the second factors of a user who lost them; ends all sign-ins of the user')
    .requiredOption('--email <address>', 'email address')
    .addOption(jsonOption())
    .action(load(async () => (await import('../accounts/users.ts')).resetSecondFactor))
  for (const [name, isStaff] of [
    ['promote', true],
    ['demote', false],
  ] as const) {
    users
      .command(name)
      .description(`${isStaff ? 'make' : 'no longer make'} a user an instance administrator, who sets plugin levels`)
      .requiredOption('--email <address>', 'email address of the user')
      .addOption(jsonOption())
      .action(options => load(async () => (await import('../accounts/users.ts')).setStaff)(isStaff, options))
  }
}

function addKeyCommands(program: Command): void {
  const keys = group(program, 'keys', 'manage personal API keys, beside the database, and secret keys of projects')
  keys
    .command('create')
    .description('create a key and print it once')
    .requiredOption('--email <address>', 'user who owns the key')
    .option('--label <text>', 'what the key is for', 'Command line')
    .option('--scopes <list>', 'scopes separated by commas, such as feature_flag:read,feature_flag:write', '*')
    .addHelpText(
      'after',
      `\nScopes are * or <object>:read and <object>:write, with one of these objects:\n${scopeObjects.join(', ')}`,
    )
    .option('--expires-in-days <number>', 'days until it expires; default: never', wholeNumber(1, 99_999))
    .option('--quiet', 'print only the key')
    .addOption(jsonOption())
    .action(load(async () => (await import('../accounts/keys.ts')).createKey))
  keys
    .command('list')
    .description('list the keys of a user')
    .requiredOption('--email <address>', 'user who owns the keys')
    .addOption(jsonOption())
    .action(load(async () => (await import('../accounts/keys.ts')).listKeys))
  keys
    .command('revoke <id>')
    .description('revoke a key')
    .requiredOption('--email <address>', 'user who owns the key')
    .action(load(async () => (await import('../accounts/keys.ts')).revokeKey))
  const secret = group(keys, 'secret', 'manage secret keys of a project (phs_…), for server SDKs, on a running server')
  onProject(secret.command('create <label>'))
    .description('create a secret key and print it once')
    .option('--quiet', 'print only the key')
    .action(load(async () => (await import('../remote/secret-keys.ts')).createSecretKey))
  onProject(secret.command('list'))
    .description('list the secret keys of a project')
    .action(load(async () => (await import('../remote/secret-keys.ts')).listSecretKeys))
  onProject(secret.command('revoke <id>'))
    .description('revoke a secret key; SDKs with it lose access at once')
    .action(load(async () => (await import('../remote/secret-keys.ts')).revokeSecretKey))
}
