import { createContext } from 'react'

/** How much is new for the user: the tab's title begins with it. */
export const TitleCountContext = createContext(0)
