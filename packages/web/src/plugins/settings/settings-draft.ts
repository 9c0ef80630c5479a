import type { PluginConfigWrite } from '@halyard/contract'
import type { PluginConfig } from '../plugin-queries.ts'
import type { Attachment } from './attachment-field.tsx'
import type { SecretValue } from './secret-field.tsx'
import { isVisible, type Setting, type Values } from './setting-rules.ts'

/** A plugin configuration while it is being edited. */
export interface SettingsDraft {
  readonly isOn: boolean
  /** The settings that are neither secret nor files. */
  readonly texts: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, SecretValue>>
  readonly files: Readonly<Record<string, Attachment | undefined>>
  readonly hosts: readonly string[]
}

export const isFile = ({ type }: Setting): boolean => type === 'attachment'
export const isSecretText = (setting: Setting): boolean => setting.isSecret && !isFile(setting)
const isText = (setting: Setting): boolean => !setting.isSecret && !isFile(setting)

export const isStored = (config: PluginConfig | undefined, key: string): boolean => {
  const value = config?.config[key]
  return value !== undefined && value !== null && value !== ''
}

export function draftOf(settings: readonly Setting[], config: PluginConfig | undefined): SettingsDraft {
  const stored = config?.config
  return {
    isOn: config?.enabled ?? false,
    texts: fromEntries(settings.filter(isText), setting => textOf(stored ? stored[setting.key] : setting.fallback)),
    secrets: fromEntries(settings.filter(isSecretText), ({ key }) =>
      isStored(config, key) ? { kind: 'stored' } : { kind: 'new', text: '' },
    ),
    files: fromEntries(settings.filter(isFile), ({ key }) => stored?.[key] as Attachment | undefined),
    hosts: config?.allowed_hosts ?? [],
  }
}

const fromEntries = <T>(settings: readonly Setting[], make: (setting: Setting) => T): Record<string, T> =>
  Object.fromEntries(settings.map(setting => [setting.key, make(setting)]))

/** A JSON setting may be stored as a value; the form edits its text. */
const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)

/** What conditions and validation read: text as it is, for everything else whether it exists. */
export function valuesOf({ texts, secrets, files }: SettingsDraft): Values {
  const storedMark = '(stored)'
  return {
    ...texts,
    ...mapValues(secrets, secret => (secret?.kind === 'stored' ? storedMark : secret?.text)),
    ...mapValues(files, file => (file ? storedMark : undefined)),
  }
}

const mapValues = <T, U>(object: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]))

/** The request body: a stored secret is omitted, a file is sent only when it changed. */
export function bodyOf(
  settings: readonly Setting[],
  draft: SettingsDraft,
  config: PluginConfig | undefined,
): PluginConfigWrite {
  const values = valuesOf(draft)
  const shown = settings.filter(setting => isVisible(setting, values))
  const texts = shown.filter(isText).map(({ key }) => [key, draft.texts[key] ?? ''])
  const secrets = settings.filter(isSecretText).flatMap(({ key }) => {
    const secret = draft.secrets[key]
    return secret?.kind === 'new' && (secret.text !== '' || isStored(config, key)) ? [[key, secret.text]] : []
  })
  const files = settings.filter(isFile).flatMap(({ key }): [string, NonNullable<Attachment['upload']> | null][] => {
    const file = draft.files[key]
    if (file?.upload) return [[key, file.upload]]
    return !file && isStored(config, key) ? [[key, null]] : []
  })
  return {
    enabled: draft.isOn,
    config: Object.fromEntries([...texts, ...secrets]),
    allowed_hosts: [...draft.hosts],
    ...(files.length > 0 && { attachments: Object.fromEntries(files) }),
  }
}
