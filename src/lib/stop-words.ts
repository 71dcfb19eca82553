/**
 * Words that say how a sentence is built and nothing of what it is about: a search leaves them out. English
 * and Russian; Russian pronouns in every form, since they stand before any stemming.
 */

const ENGLISH = `
a about above after again against all am an and any are as at be because been before being below between both
but by can could did do does doing down during each few for from further had has have having he her here hers
herself him himself his how if in into is it its itself just me more most my myself no nor not now of off on
once only or other ought our ours ourselves out over own same shall she should so some such than that the
their theirs them themselves then there these they this those through to too under until up very was we were
what when where which while who whom whose why will with would you your yours yourself yourselves may might
must ve ll re don didn doesn isn wasn aren weren hasn haven hadn won wouldn couldn shouldn called named another`

const RUSSIAN = `
и в во не что он на я с со как а то все всё она так его но да ты к у же вы за бы по только ее её мне было вот от
меня еще ещё нет о об из ему теперь когда даже ну вдруг ли если уже или ни быть был была были него до вас
нибудь опять уж вам вами ведь там потом себя себе собой ничего ей может могут можно они тут где есть надо ней
для мы тебя тебе тобой их чем чём чему чего сам сама сами само чтоб чтобы без будто раз тоже также под будет
будут ж тогда кто кого кому кем ком этот эта это эти этого этой этих этому этим этими этом эту того той тех
тому тем теми том ту та те тот потому какой какая какое какие какого каких какому каким какими каком какую
каков какова каково каковы который которая которое которые которого которой которых которому которым которыми
котором которую ним ними нем нём нею нею нему здесь один одна одно почти мой моя мое моё мои моего моей моих
моему моим моими моем моём мою твой твоя твое твои твоего твоей твоих твою наш наша наше наши нашего нашей
наших нашу ваш ваша ваше ваши вашего вашей ваших вашу свой своя свое своё свои своего своей своих своему своим
своими своем своём свою куда откуда зачем почему сколько всех всем всеми всего всему всей всю весь вся никогда
при наконец два другой хоть после над через нас нам нами про них много разве три впрочем перед иногда лучше
чуть нельзя такой такая такое такие такого таких таким такую им ими более менее всегда конечно между является
являются являлся являлась являлось являлись является называется называются назывался называлась называли
называют назовите назвать было`

/** In lower case, with `ё` as `е`. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `${ENGLISH} ${RUSSIAN}`.trim().replaceAll("ё", "е").split(/\s+/),
)
