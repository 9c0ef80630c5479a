import type { Messages } from '../../i18n/en.ts'

/** "turn off express" as typed into the palette. */
export interface FlagCommand {
  readonly isTurningOn: boolean
  /** What names the flag; may be empty. */
  readonly text: string
}

/** Reads "turn off x", "turn x off", "x off" and "disable x". A particle alone is no command: it may begin a name. */
export function readFlagCommand(query: string, { palette: { commands } }: Messages): FlagCommand | undefined {
  const words = query.toLowerCase().split(/\s+/)
  const hasLead = commands.lead.includes(words[0] ?? '')
  const rest = hasLead ? words.slice(1) : words
  for (const name of ['off', 'on'] as const) {
    const { particle, verb } = commands[name]
    const isCommand = (word: string | undefined) => word === verb || (word === particle && (hasLead || rest.length > 1))
    const isTurningOn = name === 'on'
    if (isCommand(rest[0])) return { isTurningOn, text: rest.slice(1).join(' ') }
    if (isCommand(rest.at(-1))) return { isTurningOn, text: rest.slice(0, -1).join(' ') }
  }
  return undefined
}
