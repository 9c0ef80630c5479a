import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { chooseLanguage, type Language } from './choose-language.ts'
import { en, type Messages } from './en.ts'
import { type Formats, formatsOf } from './formats.ts'

/** English is in the main bundle; other languages are loaded on demand. */
const loaders: Record<Language, () => Promise<Messages>> = {
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

export const preferredLanguage = (): Language =>
  chooseLanguage(localStorage.getItem(storageName), navigator.languages ?? [navigator.language])

export const loadMessages = (language: Language): Promise<Messages> => loaders[language]()

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

export const useFormats = (): Formats => formatsOf(useLanguage().language)
