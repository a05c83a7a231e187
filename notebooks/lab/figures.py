"""``python -m lab.figures`` draws the README's picture from the course's own searches."""

from pathlib import Path

from lab.corpora import sections
from lab.paths import ASSETS
from lab.plots import plot_fusion

QUESTION = "what happened with INC-2023-Q4-011?"
FUSION = ASSETS / "figures" / "fusion.png"


def draw_fusion(path: Path = FUSION) -> Path:
    """The incident question over the report: two rankings and the fused one. The path written."""
    from hybrid_search import BM25Index, Retriever, VectorIndex
    from lab.embedders import embedder

    vector_index, bm25_index = VectorIndex(embedder("local")), BM25Index()
    retriever = Retriever(vector_index, bm25_index)
    retriever.add_documents(sections())

    def names(results) -> list[str]:
        return [f"Section {document['id']}" for document, _ in results]

    rankings = {
        "vector": names(vector_index.search(QUESTION, k=5)),
        "BM25": names(bm25_index.search(QUESTION, k=5)),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    return plot_fusion(rankings, names(retriever.search(QUESTION, k=5))).save(path)


if __name__ == "__main__":
    print(draw_fusion())
