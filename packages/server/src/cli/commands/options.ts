import { type Command, InvalidArgumentError, Option } from 'commander'

/** Reads the code of a command when it runs: no command needs all of the program. */
export const load =
  <Args extends unknown[]>(command: () => Promise<(...args: Args) => void | Promise<void>>) =>
  async (...args: Args): Promise<void> =>
    (await command())(...args)

/** Without a subcommand it prints its help and fails. */
export const group = (program: Command, name: string, description: string): Command =>
  program.command(name).description(description)

export const jsonOption = (): Option => new Option('--json', 'print JSON')

export const withServer = (command: Command): Command =>
  command
    .option('--url <url>', 'server (HALYARD_URL); default: the one that these settings describe')
    .option('--key <key>', 'personal API key (HALYARD_KEY); beside the database none is needed')

export const collect = (value: string, values: readonly string[]): string[] => [...values, value]
/** Undefined stays undefined when the option is absent. */
export const collectFirst = (value: string, values: readonly string[] | undefined): string[] => [
  ...(values ?? []),
  value,
]

export const wholeNumber =
  (min: number, max: number) =>
  (value: string): number => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
    return number
  }

/** The id of a project, or `@current`. */
const projectId = (value: string): string => {
  if (/^(\d+|@current)$/.test(value)) return value
  throw new InvalidArgumentError('It must be the id of a project, or @current. See: halyard projects list')
}

export const onProject = (command: Command): Command =>
  withServer(command)
    .option('--project <id>', 'project (HALYARD_PROJECT_ID)', projectId, process.env.HALYARD_PROJECT_ID || '@current')
    .addOption(jsonOption())

/** For changes that may need approval. */
export const gated = (command: Command): Command =>
  command
    .option('--request-approval', 'open a change request when the change needs approval')
    .option('--note <text>', 'why; recorded with the change, or the reason of its request')
    .option('--emergency <reason>', 'bypass approvals and freezes (owners); recorded and reviewed')
