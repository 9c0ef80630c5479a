import { type Command, CommanderError } from 'commander'
import { refuseSwallowedOptions } from './npm-options.ts'
import { createProgram } from './program.ts'
import { reportError } from './report-error.ts'
import { exitCodes } from './usage.ts'

// The reader of a pipe, such as `head`, has enough: that is no failure.
process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(exitCodes.ok)
  throw error
})

async function main(): Promise<void> {
  const [first, ...rest] = process.argv.slice(2)
  const program = createProgram()
  // `npm start` and containers name no command.
  const isOption = first?.startsWith('-') && !['-h', '--help', '-v', '--version'].includes(first)
  const args = first === undefined ? ['serve'] : isOption ? ['serve', first, ...rest] : [first, ...rest]
  refuseSwallowedOptions(program, args)
  await program.parseAsync(namesUnknownCommand(program, args) ? args.filter(arg => !isHelp(arg)) : args, {
    from: 'user',
  })
}

const isHelp = (arg: string): boolean => arg === '--help' || arg === '-h'

/** Commander would print the help of the group, as if there were such a command. */
function namesUnknownCommand(group: Command, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || name.startsWith('-') || name === 'help' || group.commands.length === 0) return false
  const command = group.commands.find(child => child.name() === name)
  return command ? namesUnknownCommand(command, rest) : true
}

main().catch(error => {
  // Commander has printed its help or message.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  else reportError(error)
})
