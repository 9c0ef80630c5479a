/** Where the environments of a file go. */
export interface EnvironmentChoice {
  /** The environments of the file. */
  readonly names: readonly string[]
  readonly into: 'project' | 'set' | 'new'
  /** For `project`: the environment of the file. */
  readonly environment: string
  /** For `set`. */
  readonly setId: number | undefined
  /** For `set`: the environment of the file by that of the set; empty when nothing goes there. */
  readonly bySetEnvironment: Readonly<Record<string, string>>
  /** For `new`. */
  readonly setName: string
  readonly isIncluded: Readonly<Record<string, boolean>>
}

interface SetOfEnvironments {
  readonly id: number
  readonly environments: readonly { readonly name: string }[]
}

/** The set that the project is part of, if there is one. */
export function defaultChoice(names: readonly string[], set: SetOfEnvironments | undefined): EnvironmentChoice {
  return {
    names,
    into: 'project',
    environment: names[0] ?? '',
    setId: undefined,
    bySetEnvironment: {},
    setName: '',
    isIncluded: Object.fromEntries(names.map(name => [name, true])),
    ...(set && intoSet(names, set)),
  }
}

/** Environments with the same name belong together. */
export function intoSet(
  names: readonly string[],
  { id, environments }: SetOfEnvironments,
): Pick<EnvironmentChoice, 'into' | 'setId' | 'bySetEnvironment'> {
  const match = (name: string) => names.find(other => other.toLowerCase() === name.toLowerCase()) ?? ''
  return {
    into: 'set',
    setId: id,
    bySetEnvironment: Object.fromEntries(environments.map(({ name }) => [name, match(name)])),
  }
}

export function isComplete(choice: EnvironmentChoice | undefined): boolean {
  if (!choice) return false
  if (choice.into === 'project') return choice.environment !== ''
  if (choice.into === 'set') return Object.values(choice.bySetEnvironment).some(Boolean)
  return choice.setName.trim() !== '' && choice.names.some(name => choice.isIncluded[name])
}

/** As the API expects it. */
export function bodyOf(choice: EnvironmentChoice, projectId: number) {
  if (choice.into === 'project') return { mapping: [{ project: projectId, environment: choice.environment }] }
  if (choice.into === 'set') {
    const mapping = Object.entries(choice.bySetEnvironment).flatMap(([name, environment]) =>
      environment === '' ? [] : [{ name, environment }],
    )
    return { environment_set: choice.setId, mapping }
  }
  const mapping = choice.names.filter(name => choice.isIncluded[name]).map(name => ({ name, environment: name }))
  return { new_environment_set: choice.setName.trim(), mapping }
}
