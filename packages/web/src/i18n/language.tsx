import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { en, type Messages } from './en.ts'

const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

/** A language other than English is fetched when somebody wants it. */
const catalogues: Record<Language, () => Promise<Messages>> = {
  en: async () => en,
  de: async () => (await import('./de.ts')).de,
}

interface LanguageChoice {
  readonly language: Language
  readonly messages: Messages
  choose(language: Language): void
}

const LanguageContext = createContext<LanguageChoice>({ language: 'en', messages: en, choose: () => {} })
const storageName = 'halyard.language'

export function preferredLanguage(): Language {
  const wanted = localStorage.getItem(storageName) ?? navigator.language.slice(0, 2)
  return languages.find(language => language === wanted) ?? 'en'
}

export const loadMessages = (language: Language): Promise<Messages> => catalogues[language]()

export function LanguageProvider(props: {
  initial: Pick<LanguageChoice, 'language' | 'messages'>
  children: ReactNode
}) {
  const [chosen, setChosen] = useState(props.initial)
  useEffect(() => {
    document.documentElement.lang = chosen.language
  }, [chosen.language])
  const value = useMemo(
    (): LanguageChoice => ({
      ...chosen,
      async choose(language) {
        localStorage.setItem(storageName, language)
        setChosen({ language, messages: await loadMessages(language) })
      },
    }),
    [chosen],
  )
  return <LanguageContext.Provider value={value}>{props.children}</LanguageContext.Provider>
}

export const useMessages = (): Messages => useContext(LanguageContext).messages
export const useLanguage = (): LanguageChoice => useContext(LanguageContext)

export const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch' }

const minuteSeconds = 60
const hourSeconds = 60 * minuteSeconds
const daySeconds = 24 * hourSeconds
/** Counting seconds would only be restless: below a minute it is now. */
const units = [
  { name: 'second', seconds: 1, below: 45 },
  { name: 'minute', seconds: minuteSeconds, below: 59.5 * minuteSeconds },
  { name: 'hour', seconds: hourSeconds, below: 23.5 * hourSeconds },
  { name: 'day', seconds: daySeconds, below: 45 * daySeconds },
] as const

/** Numbers and dates as the language writes them. */
export function useFormats() {
  const { language } = useLanguage()
  return useMemo(() => {
    const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium' })
    const moment = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
    const precise = new Intl.DateTimeFormat(language, { dateStyle: 'short', timeStyle: 'medium' })
    const share = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 })
    const count = new Intl.NumberFormat(language)
    const distance = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
    const exactDistance = new Intl.RelativeTimeFormat(language)
    return {
      day: (instant: string) => day.format(new Date(instant)),
      moment: (instant: string) => moment.format(new Date(instant)),
      /** How far away it is, until that says less than the day itself. */
      ago(instant: string, now: number) {
        const seconds = (Date.parse(instant) - now) / 1000
        const unit = units.find(each => Math.abs(seconds) < each.below)
        if (!unit) return day.format(new Date(instant))
        const away = Math.round(seconds / unit.seconds)
        return unit.name === 'second' ? distance.format(0, 'second') : exactDistance.format(away, unit.name)
      },
      /** To the second, for logs. */
      precise: (instant: string) => precise.format(new Date(instant)),
      /** From 0 to 100. */
      percent: (value: number) => share.format(value / 100),
      count: (value: number) => count.format(value),
    }
  }, [language])
}
