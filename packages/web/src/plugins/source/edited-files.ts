/** File name → text. */
export type Files = Readonly<Record<string, string>>

export type FileState = 'same' | 'changed' | 'added'

export const stateOf = (name: string, stored: Files, edited: Files): FileState =>
  stored[name] === undefined ? 'added' : stored[name] === edited[name] ? 'same' : 'changed'

/** The patch from the stored to the edited files: text, and null for removed ones. */
export function changesOf(stored: Files, edited: Files): Record<string, string | null> {
  const names = [...new Set([...Object.keys(stored), ...Object.keys(edited)])].sort()
  return Object.fromEntries(
    names.filter(name => stored[name] !== edited[name]).map(name => [name, edited[name] ?? null]),
  )
}

export type NameFault = 'shape' | 'taken'

/** A file name needs an extension, by which the server distinguishes files from other fields. */
export function fileNameError(name: string, files: Files): NameFault | undefined {
  const hasValidShape =
    /^[\w.@-]+(\/[\w.@-]+)*\.[A-Za-z0-9]+$/.test(name) && !name.split('/').some(part => /^\.\.?$/.test(part))
  if (!hasValidShape || name.length > 200) return 'shape'
  return files[name] === undefined ? undefined : 'taken'
}

export function renamed(files: Files, from: string, to: string): Files {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name === from ? to : name, text]))
}

export const without = (files: Files, name: string): Files =>
  Object.fromEntries(Object.entries(files).filter(([other]) => other !== name))

/** The template for a plugin without files. */
export const starter = (name: string): Files => ({
  'index.ts': `// Called for every event of the project. Return the event to pass it on, or nothing to drop it.
export function processEvent(event, { config }) {
  event.properties.greeting = config.greeting
  return event
}

// Called after a flag has changed.
export function onFlagChange(change) {
  console.log(change.action, change.key)
}
`,
  'plugin.json': `${JSON.stringify(
    {
      name,
      description: '',
      config: [{ key: 'greeting', name: 'Greeting', type: 'string', default: 'hello', required: true }],
    },
    null,
    2,
  )}
`,
})
