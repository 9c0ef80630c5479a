import { type Command, Option } from 'commander'
import { gated, group, jsonOption, load, onProject, wholeNumber, withServer } from './options.ts'

/** Environments, promotion, change requests and activity. */
export function addChangeControlCommands(program: Command): void {
  const onSets = (command: Command) =>
    withServer(command)
      .option('--organization <id>', 'organization', '@current')
      .option('--set <id>', 'environment set, by id or name; needed when there are several')
      .addOption(jsonOption())
  const environments = group(program, 'environments', 'list and compare environments on a running server')
  onSets(environments.command('list'))
    .description('list the environment sets and their environments')
    .action(load(async () => (await import('../remote/environments.ts')).listEnvironments))
  onSets(environments.command('compare'))
    .description('show the flags in which environments differ')
    .option('--all', 'also flags that are the same everywhere')
    .option('--search <text>', 'only flags whose key contains this')
    .action(load(async () => (await import('../remote/environments.ts')).compareEnvironments))
  gated(onSets(program.command('promote <keys...>')))
    .description('bring flags from one environment to another, all or nothing; prints what changes')
    .requiredOption('--from <environment>', 'environment to promote from: its name, or the id of its project')
    .requiredOption('--to <environment>', 'environment to promote to')
    .option('--parts <list>', 'of filters, payloads, tags and active; default: all but active')
    .option('--dry-run', 'print what would change and change nothing')
    .action(load(async () => (await import('../remote/environments.ts')).promote))

  const requests = group(program, 'requests', 'list and decide change requests on a running server')
  const requestId = wholeNumber(1, Number.MAX_SAFE_INTEGER)
  onProject(requests.command('list'))
    .description('list the change requests of a project, newest first')
    .option('--state <states>', 'only these states, separated by commas, such as pending,approved')
    .option('--mine', 'only those that wait for your decision')
    .option('--limit <number>', 'at most this many', wholeNumber(1, 1000), 100)
    .action(load(async () => (await import('../remote/change-requests.ts')).listRequests))
  onProject(requests.command('show'))
    .description('show a change request: what changes, its impact and its decisions')
    .argument('<id>', 'change request', requestId)
    .action(load(async () => (await import('../remote/change-requests.ts')).showRequest))
  for (const decision of ['approve', 'reject'] as const) {
    onProject(requests.command(decision))
      .description(`${decision} a change request as it is shown`)
      .argument('<id>', 'change request', requestId)
      .option('--reason <text>', 'why')
      .action((id, options) =>
        load(async () => (await import('../remote/change-requests.ts')).decideRequest)(id, decision, options),
      )
  }

  onProject(program.command('activity'))
    .description('show who changed what in a project, old → new')
    .addOption(new Option('--of <objects>', 'what was changed').choices(['flags', 'cohorts']).default('flags'))
    .option('--user <user>', 'only entries by this user: id or email')
    .option('--limit <number>', 'at most this many entries', wholeNumber(1, 1000), 20)
    .action(load(async () => (await import('../remote/activity.ts')).projectActivity))
}
