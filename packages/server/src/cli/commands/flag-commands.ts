import { type Command, InvalidArgumentError, Option } from 'commander'
import { targets } from '../types/targets.ts'
import { collect, gated, group, jsonOption, load, onProject, wholeNumber, withServer } from './options.ts'

export function addFlagCommands(program: Command): void {
  const flags = group(program, 'flags', 'manage and evaluate flags on a running server')
  onProject(flags.command('list'))
    .description('list the flags of a project, newest first')
    .option('--search <text>', 'only flags whose key or name contains this')
    .option('--limit <number>', 'at most this many', wholeNumber(1, 1000), 100)
    .action(load(async () => (await import('../remote/flags.ts')).listFlags))
  onProject(flags.command('get <key>'))
    .description('show a flag; --json shows all of it')
    .action(load(async () => (await import('../remote/flags.ts')).getFlag))
  const onGatedFlags = (command: Command) => gated(onProject(command))
  onGatedFlags(flags.command('create <key>'))
    .description('create a flag; without conditions it is on for everyone')
    .option('--name <text>', 'description')
    .option('--rollout <percent>', 'on for this percentage of users', wholeNumber(0, 100))
    .option('--filters <json>', 'release conditions: JSON, a file, or - for standard input')
    .option('--tag <tag>', 'tag; may be repeated', collect, [])
    .option('--disabled', 'create it disabled')
    .action(load(async () => (await import('../remote/flags.ts')).createFlag))
  addEdits(flags, onGatedFlags)
  onProject(flags.command('eval <key>'))
    .description('evaluate a flag as an SDK does; prints the value, and the reason on standard error')
    .option('--distinct-id <id>', 'user to evaluate for', 'cli')
    .option('--property <name=value>', 'person property; may be repeated', collect, [])
    .action(load(async () => (await import('../remote/flags.ts')).evaluateFlag))
  onProject(flags.command('history <key>'))
    .description('show who changed a flag, when, and what: old → new')
    .option('--limit <number>', 'at most this many entries', wholeNumber(1, 1000), 20)
    .action(load(async () => (await import('../remote/activity.ts')).flagHistory))

  withServer(program.command('types'))
    .description('generate TypeScript types of all flags: keys, variants and payloads')
    .option('--project <id>', 'project', process.env.HALYARD_PROJECT_ID || '@current')
    .option('--out <file>', 'file to write; default: standard output')
    .option('--check', 'exit with 1 when the file is out of date; writes nothing')
    .option('--watch', 'keep the file up to date until the command is stopped')
    .addOption(new Option('--for <packages...>', 'packages whose functions get the types').choices(targets).default([]))
    .action(load(async () => (await import('../types/types.ts')).types))

  onProject(program.command('code-refs'))
    .description('find the flags of a project in source code and upload where they are')
    .requiredOption('--repository <name>', 'name of the repository, such as acme/shop')
    .option('--dir <folder>', 'folder to scan', '.')
    .option('--branch <name>', 'branch that is scanned; default: from Git')
    .option('--commit <hash>', 'commit that is scanned; default: from Git')
    .option('--no-excerpts', 'upload files and line numbers only, no source text')
    .option('--dry-run', 'print what is found and upload nothing')
    .action(load(async () => (await import('../code-references/code-references.ts')).codeReferences))

  const projects = group(program, 'projects', 'manage projects on a running server')
  withServer(projects.command('list'))
    .description('list projects')
    .addOption(jsonOption())
    .action(load(async () => (await import('../remote/projects.ts')).listProjects))
  withServer(projects.command('create <name>'))
    .description('create a project')
    .option('--organization <id>', 'organization; default: the current one')
    .addOption(jsonOption())
    .action(load(async () => (await import('../remote/projects.ts')).createProject))
}

function addEdits(flags: Command, onGatedFlags: (command: Command) => Command): void {
  const edits = () => import('../remote/edit-flag.ts')
  for (const [name, isActive] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    onGatedFlags(flags.command(`${name} <key>`))
      .description(`${name} a flag`)
      .action((key, options) => load(async () => (await edits()).setFlagActive)(key, isActive, options))
  }
  onGatedFlags(flags.command('rollout'))
    .description('set the rollout percentage of a flag, or of one of its conditions')
    .argument('<key>', 'flag')
    .argument('<percent>', 'percentage of users', percentage)
    .option('--condition <number>', 'which condition, from 1', wholeNumber(1, 10_000), 1)
    .action(load(async () => (await edits()).setRollout))
  onGatedFlags(flags.command('variants'))
    .description('show the variants of a flag, or set them: control=50 test=50')
    .argument('<key>', 'flag')
    .argument('[variant=percent...]', 'all variants with their percentages, which add up to 100')
    .action(load(async () => (await edits()).flagVariants))
  onGatedFlags(flags.command('archive <key>'))
    .description('archive a flag: it is disabled and no longer listed')
    .option('--force <reason>', 'also when it is still in use; says why')
    .action((key, options) => load(async () => (await edits()).setArchived)(key, true, options))
  onGatedFlags(flags.command('unarchive <key>'))
    .description('bring an archived flag back, disabled')
    .action((key, options) => load(async () => (await edits()).setArchived)(key, false, options))
}

const percentage = (value: string): number => {
  const number = Number(value.replace(/%$/, ''))
  if (value.trim() === '' || !(number >= 0 && number <= 100))
    throw new InvalidArgumentError('It must be a number from 0 to 100.')
  return number
}
