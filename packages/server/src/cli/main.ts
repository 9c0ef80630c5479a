import { CommanderError } from 'commander'
import { refuseSwallowedOptions } from './npm-options.ts'
import { createProgram } from './program.ts'
import { reportError } from './report-error.ts'
import { exitCodes } from './usage.ts'

async function main(): Promise<void> {
  const [first, ...rest] = process.argv.slice(2)
  const program = createProgram()
  // `npm start` and containers name no command.
  const isOption = first?.startsWith('-') && !['-h', '--help', '-v', '--version'].includes(first)
  const args = first === undefined ? ['serve'] : isOption ? ['serve', first, ...rest] : [first, ...rest]
  refuseSwallowedOptions(program, args)
  await program.parseAsync(args, { from: 'user' })
}

main().catch(error => {
  // Commander has printed its help or message.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  else reportError(error)
})
