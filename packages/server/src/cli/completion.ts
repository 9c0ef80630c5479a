import type { Command } from 'commander'

/** What can follow a command: `flags list` → its options, `flags` → its subcommands. */
interface Completions {
  readonly path: string
  readonly subcommands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly { readonly name: string; readonly description: string; readonly takesValue: boolean }[]
}

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** A script for the shell, from the commands as they are declared. */
export const completionScript = (program: Command, shell: Shell): string => scripts[shell](completionsOf(program, ''))

function completionsOf(command: Command, path: string): readonly Completions[] {
  const help = { name: '--help', description: 'print help', takesValue: false }
  const own: Completions = {
    path,
    subcommands: command.commands.map(child => ({ name: child.name(), description: child.description() })),
    options: [
      ...command.options.map(({ long, short, description, required, optional }) => ({
        name: long ?? short ?? '',
        description,
        takesValue: required || optional,
      })),
      help,
    ],
  }
  return [own, ...command.commands.flatMap(child => completionsOf(child, `${path} ${child.name()}`.trim()))]
}

/** Inside single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const words = ({ subcommands, options }: Completions): string =>
  [...subcommands, ...options].map(({ name }) => name).join(' ')

/** Options that are followed by a value, which is no command. */
const valueOptions = (completions: readonly Completions[]): string =>
  [
    ...new Set(
      completions.flatMap(({ options }) => options.filter(option => option.takesValue).map(({ name }) => name)),
    ),
  ].join('|')

/** Finds the command that is being typed, as `place`; `skip` is set where the value of an option is. */
const walk = (
  completions: readonly Completions[],
  { first, current, words }: { first: number; current: string; words: string },
): string => `  local place='' word skip='' i
  for ((i = ${first}; i < ${current}; i++)); do
    word=\${${words}[i]}
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${valueOptions(completions)}) skip=1 ;;
      -*) ;;
      *) case "\${place:+$place }$word" in
        ${completions
          .filter(({ path }) => path !== '')
          .map(({ path }) => quoted(path))
          .join('|')}) place="\${place:+$place }$word" ;;
      esac ;;
    esac
  done`

const bash = (
  completions: readonly Completions[],
): string => `# bash completion of halyard: source <(halyard completion bash)
_halyard() {
${walk(completions, { first: 1, current: 'COMP_CWORD', words: 'COMP_WORDS' })}
  if [[ -n $skip ]]; then COMPREPLY=(); return; fi
  local candidates=''
  case $place in
${completions.map(own => `    ${quoted(own.path)}) candidates=${quoted(words(own))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _halyard halyard
`

const zsh = (completions: readonly Completions[]): string => `#compdef halyard
# zsh completion of halyard: source <(halyard completion zsh)
_halyard() {
${walk(completions, { first: 2, current: 'CURRENT', words: 'words' })}
  if [[ -n $skip ]]; then _files; return; fi
  local -a candidates
  case $place in
${completions.map(own => `    ${quoted(own.path)}) candidates=(${described(own).join(' ')}) ;;`).join('\n')}
  esac
  _describe 'halyard' candidates || _files
}
if [[ $funcstack[1] == _halyard ]]; then _halyard; else compdef _halyard halyard; fi
`

/** \`name:description\`, in which a colon has to be escaped. */
const described = ({ subcommands, options }: Completions): string[] =>
  [...subcommands, ...options].map(({ name, description }) => quoted(`${name}:${description.replaceAll(':', '\\:')}`))

const fish = (
  completions: readonly Completions[],
): string => `# fish completion of halyard: halyard completion fish | source
function __halyard_path
  set -l path ''
  set -l skip ''
  for word in (commandline -opc)[2..]
    if test -n "$skip"
      set skip ''
      continue
    end
    switch $word
      case ${valueOptions(completions).split('|').join(' ')}
        set skip 1
      case '-*'
      case '*'
        set -l next (string trim "$path $word")
        if contains -- $next ${completions
          .filter(({ path }) => path !== '')
          .map(({ path }) => quoted(path))
          .join(' ')}
          set path $next
        end
    end
  end
  echo $path
end
complete -c halyard -f
${completions.flatMap(fishLines).join('\n')}
`

function fishLines({ path, subcommands, options }: Completions): string[] {
  const at = `complete -c halyard -n ${quoted(`test (__halyard_path) = "${path}"`)}`
  return [
    ...subcommands.map(({ name, description }) => `${at} -a ${name} -d ${quoted(description)}`),
    ...options.map(
      ({ name, description, takesValue }) =>
        `${at} -l ${name.replace(/^--/, '')}${takesValue ? ' -r' : ''} -d ${quoted(description)}`,
    ),
  ]
}

const scripts: Readonly<Record<Shell, (completions: readonly Completions[]) => string>> = { bash, zsh, fish }
