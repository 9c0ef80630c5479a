import type { Command } from 'commander'
import { UsageError } from './usage.ts'

/**
 * `npm run halyard doctor --security` lacks the `--` before the arguments: npm takes the option for itself and the command would run without
 * it. npm leaves a trace in the environment. Raises UsageError.
 */
export function refuseSwallowedOptions(program: Command, args: readonly string[]): void {
  const script = process.env.npm_lifecycle_event
  if (process.env.npm_command !== 'run-script' && script !== 'start') return
  const command = commandOf(program, args)
  const swallowed = command.options.find(({ long }) => {
    const name = long?.slice('--'.length).replaceAll('-', '_')
    return name !== undefined && process.env[`npm_config_${name}`] !== undefined && !args.includes(long ?? '')
  })
  if (!swallowed) return
  const run = script === 'start' ? 'npm start' : `npm run ${script ?? 'halyard'}`
  throw new UsageError(
    `npm has taken ${swallowed.long} for itself. Put -- before the arguments: ${run} -- ${[...args, swallowed.long].join(' ')} …`,
  )
}

function commandOf(program: Command, args: readonly string[]): Command {
  const [name, ...rest] = args
  const subcommand = program.commands.find(command => command.name() === name)
  return subcommand ? commandOf(subcommand, rest) : program
}
