import { importSources } from '@halyard/migrate/model'
import { Argument, Command, Option } from 'commander'
import { version } from '../version.ts'
import { addAccountCommands } from './commands/account-commands.ts'
import { addAuditCommands } from './commands/audit-commands.ts'
import { addChangeControlCommands } from './commands/change-control-commands.ts'
import { addFlagCommands } from './commands/flag-commands.ts'
import { collectFirst, group, jsonOption, load, wholeNumber, withServer } from './commands/options.ts'
import { completionScript, type Shell, shells } from './completion.ts'

const epilog = `
Exit codes: 0 success, 1 failure, 2 wrong usage, 78 wrong settings.
Settings are environment variables: docs/reference/settings.md. NO_COLOR disables colors.`

/** Every command with its options and help. Parsing `--help` runs nothing. */
export function createProgram(): Command {
  const program = new Command('halyard')
    .description('Self-hosted feature flags and plugins. Without a command it serves.')
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText('after', epilog)
    .showSuggestionAfterError()
    .exitOverride()

  addServingCommands(program)
  addAccountCommands(program)
  addAuditCommands(program)
  addFlagCommands(program)
  addChangeControlCommands(program)
  addDataCommands(program)
  addMigrationCommands(program)
  addOperationCommands(program)

  program
    .command('completion')
    .description('print a script that completes commands and options')
    .addArgument(new Argument('<shell>', 'shell').choices(shells))
    .addHelpText('after', '\nbash, zsh: source <(halyard completion bash); fish: halyard completion fish | source')
    .action((shell: Shell) => void process.stdout.write(completionScript(program, shell)))
  program
    .command('version')
    .description('print the version')
    .action(() => console.log(version))

  inheritSettings(program)
  return program
}

function addServingCommands(program: Command): void {
  program
    .command('serve')
    .description('start the server (what npm start does); SIGTERM or Ctrl-C stops it')
    .option('--host <address>', 'address to listen on (HOST)')
    .option('--port <number>', 'port to listen on; 0 picks a free one (PORT)')
    .action(async ({ host, port }: { host?: string; port?: string }) => {
      // Workers are started with the environment of this process.
      if (host !== undefined) process.env.HOST = host
      if (port !== undefined) process.env.PORT = port
      const { readConfig, serve } = await import('./serve/serve.ts')
      return serve(readConfig(process.env))
    })

  program
    .command('edge')
    .description('serve evaluations near your users, without a database, from the state of an upstream server')
    .option('--upstream <url>', 'server or edge to replicate (HALYARD_UPSTREAM)')
    .option('--key <key>', 'personal API key with the scope edge:write; HALYARD_UPSTREAM_KEY hides it from other users')
    .option('--data <folder>', 'folder for the last state and queued events (HALYARD_EDGE_DATA)')
    .option('--host <address>', 'address to listen on (HOST)')
    .option('--port <number>', 'port to listen on (PORT)')
    .addHelpText('after', '\nMore in docs/operate/edge.md; all settings in docs/reference/settings.md.')
    .action(load(async () => (await import('./edge.ts')).edge))

  const development = program
    .command('dev')
    .description('serve the flags of a file for development: no database, any token; watches the files')
    .option('--file <file>', 'what "halyard dev pull" wrote', 'halyard.dev.json')
    .option('--overrides <file>', 'values that replace those of flags; need not exist', 'flags.local.json')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 picks a free one (PORT)')
    .addHelpText('after', '\nMore in docs/guide/develop-offline.md.')
    .action(load(async () => (await import('./dev/dev.ts')).dev))
  development
    .command('pull')
    .description('write the flags, cohorts and group types of a project to a file that can be committed')
    .option('--from <url>', 'server (HALYARD_URL); default: the one that these settings describe')
    .option('--key <key>', 'personal API key (HALYARD_KEY); beside the database none is needed')
    .option('--project <id>', 'project', process.env.HALYARD_PROJECT_ID || '@current')
    .option('--out <file>', 'file to write', 'halyard.dev.json')
    .action(load(async () => (await import('./dev/pull.ts')).pull))
}

function addDataCommands(program: Command): void {
  program
    .command('migrate')
    .description('create or upgrade the database schema and exit')
    .addOption(jsonOption())
    .action(load(async () => (await import('./data/migrate.ts')).migrateCommand))
  program
    .command('backup <file>')
    .description('copy the SQLite database while the server runs')
    .addOption(jsonOption())
    .action(load(async () => (await import('./data/backup.ts')).backup))
  program
    .command('restore <backup>')
    .description('restore the SQLite database from a backup; the previous database stays beside it')
    .action(load(async () => (await import('./data/transfer.ts')).restoreCommand))
  program
    .command('export <file>')
    .description('write everything, or one project, as JSON lines; - is standard output')
    .option('--project <id>', 'only this project', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .addOption(jsonOption())
    .action(load(async () => (await import('./data/transfer.ts')).exportCommand))
  program
    .command('import <file>')
    .description('read a full export into an empty database, or an exported project as a new one')
    .option('--dry-run', 'check everything and write nothing')
    .option('--organization <id>', 'organization that gets the project: id, slug or name')
    .option('--name <text>', 'name of the new project')
    .addOption(jsonOption())
    .action(load(async () => (await import('./data/import.ts')).importCommand))
  program
    .command('migrate-store <from> <to>')
    .description('copy everything between sqlite:<path> and postgres://…; resumable and verified')
    .action(load(async () => (await import('./data/transfer.ts')).migrateStoreCommand))
  program
    .command('migrate-events')
    .description('copy the counted uses of flags to the ClickHouse of EVENTS_URL; resumable and verified')
    .addOption(jsonOption())
    .action(load(async () => (await import('./data/migrate-events.ts')).migrateEventsCommand))
  program
    .command('migrate-persons')
    .description('copy persons to the database of PERSONS_DATABASE_URL, while servers run; resumable and verified')
    .option('--finish', 'with every node stopped: copy the rest, compare, and remove them from the main database')
    .addOption(jsonOption())
    .action(load(async () => (await import('./data/migrate-persons.ts')).migratePersonsCommand))
}

function addMigrationCommands(program: Command): void {
  const onServer = (command: Command) =>
    command
      .option('--project <id>', 'project', process.env.HALYARD_PROJECT_ID || '@current')
      .option('--server <url>', 'server (HALYARD_URL); default: the one that these settings describe')
      .option('--key <key>', 'personal API key (HALYARD_KEY); beside the database none is needed')
      .addOption(jsonOption())
  onServer(program.command('import-from'))
    .description('import the flags and segments of another service; everyone keeps their variant')
    .addArgument(new Argument('<source>', 'service that wrote the file').choices(importSources))
    .option(
      '--file <file>',
      'file with the definitions, - is standard input; <environment>=<file> for one of a set; repeatable',
      collectFirst,
    )
    .option('--url <url>', 'where the service responds with them')
    .option('--token-env <name>', 'environment variable with the API token of the service, for --url')
    .option(
      '--environment <name>',
      'environment of the file; <name>=<environment of the set>, or <name>=<project id> without one; repeatable',
      collectFirst,
    )
    .option('--environment-set <id>', 'import each environment into the project with its name', wholeNumber(1, 2 ** 31))
    .option('--new-environment-set <name>', 'create a set with a project for each environment (admin)')
    .addOption(
      new Option('--client-language <language>', 'how the SDKs in use hash text that is not ASCII').choices([
        'node',
        'utf-8',
      ]),
    )
    .option('--flagd-version <version>', 'version of flagd, whose rollouts have changed')
    .option('--include-archived', 'import archived flags as well')
    .option('--only-exact', 'leave out what is approximate')
    .option('--overwrite', 'replace what was changed or created here')
    .option('--emergency <reason>', 'bypass approvals and freezes (owners); recorded and reviewed')
    .option('--dry-run', 'show what would be imported and change nothing')
    .option('--prove', "compare with the service's own SDK first; nothing is imported when an exact flag differs")
    .option('--pairs <count>', 'people × flags to compare (--prove)', wholeNumber(1, 1e9), 200_000)
    .option('--seed <number>', 'repeats the people of an earlier proof (--prove)', wholeNumber(0, 2 ** 32 - 1))
    .option('--sdk-from <directory>', 'directory with the SDK in its node_modules (--prove)', '.')
    .option('--certificate <file>', 'where to write the certificate as JSON (--prove)')
    .action(load(async () => (await import('./remote/imports.ts')).importFrom))
  onServer(program.command('export-to'))
    .description('write the flags of a project in the format of another service; what it cannot express is listed')
    .addArgument(new Argument('<format>', 'format').choices(['flagd', 'openfeature-manifest', 'posthog']))
    .action(load(async () => (await import('./remote/imports.ts')).exportTo))
}

function addOperationCommands(program: Command): void {
  program
    .command('doctor')
    .description('diagnose the installation; --security audits its configuration, --secrets lists keys by age')
    .option('--security', 'audit settings and file permissions instead')
    .option('--secrets', 'list keys and tokens by age instead, oldest first, without their values')
    .addOption(jsonOption())
    .action(load(async () => (await import('./doctor/doctor.ts')).doctor))
  withServer(program.command('health'))
    .description('exit with 0 when the server responds, else with 1; for container health checks')
    .option('--ready', 'also require that it is ready: the database responds and projects are loaded')
    .addOption(jsonOption())
    .action(load(async () => (await import('./remote/health.ts')).health))
  withServer(program.command('demo'))
    .description('create or remove a demo organization')
    .option('--remove', 'remove it again')
    .addOption(jsonOption())
    .action(load(async () => (await import('./demo/demo.ts')).demo))
  group(program, 'plugins', 'develop plugins')
    .command('test <folder>')
    .description('run a plugin in the sandbox against sample events and flag changes, without a database or network')
    .option(
      '--input <file>',
      'JSON with config, events, flags and flagChanges; default: sample-input.json in the folder',
    )
    .addOption(jsonOption())
    .action(load(async () => (await import('./plugins.ts')).testPlugin))
}

/** Commander copies these to a subcommand when it is created, but not to one that is created from a group. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command)
    child.addHelpText('after', epilog)
    inheritSettings(child)
  }
}
